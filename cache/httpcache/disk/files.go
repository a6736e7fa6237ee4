package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	directoryMode = 0o700
	fileMode      = 0o600
)

// files are the files of a store. Symbolic links below its directory are not followed.
type files struct {
	root        directory
	directories [directories + 1]directory // the last is incoming
	// kept is the number of open directories, and mostKept its maximum.
	kept     atomic.Int64
	mostKept int64
	// failure, if not nil, may return an error for an operation before it is done. Only tests set it.
	failure func(operation string) error
}

// path is the location of a file.
type path struct {
	directory int // its number
	name      string
}

// String returns the path relative to the store's directory.
func (p path) String() string { return directoryName(p.directory) + "/" + p.name }

// openFiles opens the directory of a store.
func openFiles(name string) (*files, error) {
	root, err := openAt(unix.AT_FDCWD, name+"/.", os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &files{root: directory{kept: root}, mostKept: mostKept()}, nil
}

// Close closes the directories, but not the open files.
func (f *files) Close() error {
	err := f.root.close()
	for i := range f.directories {
		err = errors.Join(err, f.directories[i].close())
	}
	return err
}

func (f *files) check(operation string) error {
	if f.failure == nil {
		return nil
	}
	return f.failure(operation)
}

// create creates a file, and its directory if missing.
func (f *files) create(p path) (created *file, err error) {
	if err := f.check("create"); err != nil {
		return nil, err
	}
	err = f.in(p.directory, true, func(fd int) error {
		created, err = openAt(fd, p.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
		return err
	})
	return created, err
}

// open opens a file without blocking, for example on a named pipe. A file that is not regular may be opened,
// but not read.
func (f *files) open(p path, flags int) (opened *file, err error) {
	if err := f.check("open"); err != nil {
		return nil, err
	}
	err = f.in(p.directory, false, func(fd int) error {
		if opened, err = openAt(fd, p.name, flags|unix.O_NONBLOCK, 0); err == nil {
			return nil
		}
		var state unix.Stat_t // for example of a symbolic link
		if unix.Fstatat(fd, p.name, &state, unix.AT_SYMLINK_NOFOLLOW) == nil && !isRegular(&state) {
			return errNotRegular
		}
		return err
	})
	return opened, err
}

// rename renames a file, and creates the target directory if missing.
func (f *files) rename(from, to path) error {
	if err := f.check("rename"); err != nil {
		return err
	}
	return f.in(from.directory, false, func(source int) error {
		if from.directory == to.directory {
			return renameAt(source, from.name, source, to.name)
		}
		return f.in(to.directory, true, func(target int) error { return renameAt(source, from.name, target, to.name) })
	})
}

func renameAt(source int, from string, target int, to string) error {
	if _, err := ignoringEINTR(func() (int, error) { return 0, unix.Renameat(source, from, target, to) }); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// remove removes a file; it need not exist.
func (f *files) remove(p path) error {
	if err := f.check("remove"); err != nil {
		return err
	}
	err := f.in(p.directory, false, func(fd int) error { return unlinkAt(fd, p.name) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %s: %w", p, err)
	}
	return nil
}

// unlinkAt removes a file, or an empty directory with its name.
func unlinkAt(directory int, name string) error {
	_, err := ignoringEINTR(func() (int, error) { return 0, unix.Unlinkat(directory, name, 0) })
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
		if unix.Unlinkat(directory, name, unix.AT_REMOVEDIR) == nil {
			return nil
		}
	}
	return err
}

// names returns the names in a directory, none if it does not exist.
func (f *files) names(number int) (names []string, err error) {
	if err := f.check("list"); err != nil {
		return nil, err
	}
	err = f.inRoot(func(root int) error {
		opened, err := openDirectory(root, number, false)
		if err != nil {
			return err
		}
		names, err = readNames(opened)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// rootNames returns the names in the store's directory.
func (f *files) rootNames() (names []string, err error) {
	err = f.inRoot(func(root int) error {
		opened, err := openAt(root, ".", os.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		names, err = readNames(opened)
		return err
	})
	return names, err
}

// readNames returns the names in a directory, and closes it.
func readNames(opened *file) ([]string, error) {
	d := os.NewFile(uintptr(opened.fd), opened.name)
	defer d.Close()
	return d.Readdirnames(-1)
}

// size returns the size of a file in bytes.
func (f *files) size(p path) (int64, error) {
	var state unix.Stat_t
	err := f.in(p.directory, false,
		func(fd int) error { return unix.Fstatat(fd, p.name, &state, unix.AT_SYMLINK_NOFOLLOW) })
	return state.Size, err
}
