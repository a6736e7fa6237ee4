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

// ActAs makes root act as the owner of the file of a store, or of the directory in which it will be created.
// The files that SQLite creates beside the store must be usable by the daemon, which does not run as root, even
// if this process is killed. The program is executed again as that user, which may still read and write all
// files like root: the directory of a dynamic user is inaccessible even to that user outside the service, and a
// backup may have to be read from a directory of root.
//
// It returns if this is unnecessary, or with an error if it is impossible. It must be called before anything is
// read from standard input or any other work is done.
func ActAs(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return nil //nolint:nilerr // opening the file returns a better error
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	if err := executeAs(owner.Uid, owner.Gid); err != nil {
		return fmt.Errorf("%s belongs to uid %d, and root cannot switch to that user here: run the command as that "+
			"user: %w", path, owner.Uid, err)
	}
	return nil
}

// Constants of linux/capability.h and linux/prctl.h.
const (
	capChown        = 0
	capDACOverride  = 1
	capVersion3     = 0x20080522
	prSetSecurebits = 28
	noSetuidFixup   = 1 << 2 // from linux/securebits.h
	prCapAmbient    = 47
	prAmbientRaise  = 2
	wordsOfCapsets  = 2
	keptCapability  = 1<<capChown | 1<<capDACOverride
	variableInvoker = "SUDO_USER" // names the invoking user
)

type capHeader struct {
	version uint32
	pid     int32
}

type capData struct{ effective, permitted, inheritable uint32 }

// executeAs executes this program again as another user with capabilities for files. It only returns on an
// error. Changes made before only affect this thread, which ends with the execution.
func executeAs(uid, gid uint32) error {
	runtime.LockOSThread()
	header := capHeader{version: capVersion3}
	data := [wordsOfCapsets]capData{{keptCapability, keptCapability, keptCapability}}
	for _, call := range []struct {
		name       string
		number     uintptr
		a, b, c, d uintptr
	}{
		// Capabilities survive the change of the user, and are effective in access(2), which SQLite uses to
		// check for its files.
		{"keeping capabilities", syscall.SYS_PRCTL, prSetSecurebits, noSetuidFixup, 0, 0},
		{"clearing supplementary groups", syscall.SYS_SETGROUPS, 0, 0, 0, 0},
		{"changing the group", syscall.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid), 0},
		{"changing the user", syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid), 0},
		//nolint:gosec // capset takes addresses
		{
			"setting capabilities", syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)),
			uintptr(unsafe.Pointer(&data)), 0, 0,
		},
		{"raising an ambient capability", syscall.SYS_PRCTL, prCapAmbient, prAmbientRaise, capChown, 0},
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
	return fmt.Errorf("executing: %w", syscall.Exec("/proc/self/exe", os.Args, os.Environ())) //nolint:gosec // itself
}
