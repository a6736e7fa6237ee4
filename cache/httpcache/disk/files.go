package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

const (
	directoryMode = 0o700
	fileMode      = 0o600
)

// files are the files of a store. They are reached through an os.Root: no symbolic link
// leads out of it.
type files struct {
	root *os.Root
	// fault, if not nil, may fail an operation before it is done. Only tests set it.
	fault func(operation string) error
}

func (f *files) check(operation string) error {
	if f.fault == nil {
		return nil
	}
	return f.fault(operation)
}

// create creates a file, and its directory if need be.
func (f *files) create(name string) (*os.File, error) {
	if err := f.check("create"); err != nil {
		return nil, err
	}
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL
	file, err := f.root.OpenFile(name, flags, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err = f.mkdir(path.Dir(name)); err == nil {
			file, err = f.root.OpenFile(name, flags, fileMode)
		}
	}
	return file, err
}

var errNotRegular = fmt.Errorf("%w: it is not a regular file", ErrCorrupt)

// open opens a regular file. It waits for nothing, as opening a named pipe would.
func (f *files) open(name string, flags int) (*os.File, fs.FileInfo, error) {
	if err := f.check("open"); err != nil {
		return nil, nil, err
	}
	file, err := f.root.OpenFile(name, flags|syscall.O_NONBLOCK, 0)
	if err != nil {
		if info, e := f.root.Lstat(name); e == nil && !info.Mode().IsRegular() { // such as a link that leads out
			err = errNotRegular
		}
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// rename gives a file its name, and makes the directory for it if need be.
func (f *files) rename(from, to string) error {
	if err := f.check("rename"); err != nil {
		return err
	}
	err := f.root.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if err = f.mkdir(path.Dir(to)); err == nil {
			err = f.root.Rename(from, to)
		}
	}
	return err
}

func (f *files) mkdir(name string) error {
	err := f.root.Mkdir(name, directoryMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// remove removes a file; it need not exist.
func (f *files) remove(name string) error {
	if err := f.check("remove"); err != nil {
		return err
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// names returns the names in a directory, none if it does not exist.
func (f *files) names(directory string) ([]string, error) {
	if err := f.check("list"); err != nil {
		return nil, err
	}
	d, err := f.root.OpenFile(directory, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}
