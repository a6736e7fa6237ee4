package owner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"
)

// ActAs makes root act as the owner of the file of a store, or of the directory that it will be made
// in: what SQLite makes beside it must be usable by the daemon, which is not root, whatever happens to this
// process. The program is executed again as that user, who may still read and write all files, as root
// may: the directory of a dynamic user is closed even to that user outside of the service, and a backup
// may be to be read from root's own.
//
// It returns where nothing of this is needed, or it cannot be done. Nothing must have been read from
// standard input or done before.
func ActAs(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return nil //nolint:nilerr // opening it says better what is wrong
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	if err := executeAs(owner.Uid, owner.Gid); err != nil {
		return fmt.Errorf("%s belongs to uid %d, and root cannot act as that user here: "+
			"run the command as that user: %w", path, owner.Uid, err)
	}
	return nil
}

// Of linux/capability.h and linux/prctl.h.
const (
	capChown        = 0
	capDACOverride  = 1
	capVersion3     = 0x20080522
	prSetSecurebits = 28
	noSetuidFixup   = 1 << 2 // of linux/securebits.h
	prCapAmbient    = 47
	prAmbientRaise  = 2
	wordsOfCapsets  = 2
	keptCapability  = 1<<capChown | 1<<capDACOverride
	variableInvoker = "SUDO_USER" // which says who did it
)

type capHeader struct {
	version uint32
	pid     int32
}

type capData struct{ effective, permitted, inheritable uint32 }

// executeAs executes this program again, with another user but its capabilities for files. It only returns
// an error. All that it changes before is of this one thread, which ends with the others.
func executeAs(uid, gid uint32) error {
	runtime.LockOSThread()
	header := capHeader{version: capVersion3}
	data := [wordsOfCapsets]capData{{keptCapability, keptCapability, keptCapability}}
	for _, call := range []struct {
		name       string
		number     uintptr
		a, b, c, d uintptr
	}{
		// So that capabilities outlast the change, and count in access(2) too, by which SQLite looks for its files.
		{"keeping capabilities", syscall.SYS_PRCTL, prSetSecurebits, noSetuidFixup, 0, 0},
		{"leaving groups", syscall.SYS_SETGROUPS, 0, 0, 0, 0},
		{"changing the group", syscall.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid), 0},
		{"changing the user", syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid), 0},
		//nolint:gosec // capset takes addresses
		{"setting capabilities", syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)), 0, 0},
		{"passing on a capability", syscall.SYS_PRCTL, prCapAmbient, prAmbientRaise, capChown, 0},
		{"passing on a capability", syscall.SYS_PRCTL, prCapAmbient, prAmbientRaise, capDACOverride, 0},
	} {
		if _, _, errno := syscall.RawSyscall6(call.number, call.a, call.b, call.c, call.d, 0, 0); errno != 0 {
			return fmt.Errorf("%s: %w", call.name, errno)
		}
	}
	runtime.KeepAlive(&header)
	runtime.KeepAlive(&data)
	if os.Getenv(variableInvoker) == "" {
		if err := os.Setenv(variableInvoker, "root"); err != nil {
			return err
		}
	}
	return fmt.Errorf("executing: %w", syscall.Exec("/proc/self/exe", os.Args, os.Environ())) //nolint:gosec // it is this program
}
