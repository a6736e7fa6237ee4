package disk

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// directory is a directory that may be kept open, so that opening, renaming or removing a file in it takes one
// system call. It is safe for concurrent use.
type directory struct {
	mu   sync.RWMutex // read-locked while kept is used, so that it is not closed
	kept *file        // nil if not open
}

// use calls do with the descriptor of the directory, if it is open.
func (d *directory) use(do func(fd int) error) (open bool, err error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.kept == nil {
		return false, nil
	}
	return true, do(d.kept.fd)
}

// replace sets the descriptor of the directory, nil for none, and returns the previous one, which is no longer
// in use.
func (d *directory) replace(opened *file) (before *file) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, d.kept = d.kept, opened
	return before
}

// close closes the directory if it is open.
func (d *directory) close() error {
	if before := d.replace(nil); before != nil {
		return before.Close()
	}
	return nil
}

// inRoot calls do with the descriptor of the store's directory.
func (f *files) inRoot(do func(fd int) error) error {
	open, err := f.root.use(do)
	if !open {
		return fs.ErrClosed
	}
	return err
}

// in calls do with the descriptor of a directory, which it creates if missing and makes is set. It retries with
// a newly opened directory if a kept one has no such file: another process may have replaced the directory.
func (f *files) in(number int, makes bool, do func(fd int) error) error {
	d := &f.directories[number]
	open, err := d.use(do)
	if open && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var opened *file
	err = f.inRoot(func(root int) (err error) {
		opened, err = openDirectory(root, number, makes)
		return err
	})
	if err != nil {
		return err
	}
	err = do(opened.fd)
	if f.kept.Add(1) > f.mostKept {
		f.kept.Add(-1)
		return errors.Join(err, opened.Close())
	}
	return errors.Join(err, f.keep(d, opened))
}

// keep keeps a directory open. The caller has counted it in kept.
func (f *files) keep(d *directory, opened *file) error {
	before := d.replace(opened)
	if before == nil {
		return nil
	}
	f.kept.Add(-1)
	return before.Close()
}

// openDirectory opens a directory, and creates it if missing and makes is set. It does not follow symbolic
// links.
func openDirectory(root, number int, makes bool) (*file, error) {
	name, flags := directoryName(number), os.O_RDONLY|unix.O_DIRECTORY
	opened, err := openAt(root, name, flags, 0)
	if !makes || !errors.Is(err, fs.ErrNotExist) {
		return opened, err
	}
	if err := unix.Mkdirat(root, name, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return openAt(root, name, flags, 0)
}

// openAt opens a file in a directory. It does not follow symbolic links.
func openAt(directory int, name string, flags int, mode uint32) (*file, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Openat(directory, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{fd, name}, nil
}

// mostKept returns the maximum number of open directories: a sixteenth of the process's limit of open files.
func mostKept() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int64(min(limit.Cur/16, directories+1))
}
