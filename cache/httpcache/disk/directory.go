package disk

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// directory is a directory that may be kept open: a file in it is then opened, renamed and removed by one system call. It is
// safe for concurrent use.
type directory struct {
	mu   sync.RWMutex // held for reading while the directory is used, so that nobody closes it meanwhile
	kept *file        // nil while it is not open
}

// use calls a function with the descriptor of the directory, if it is open.
func (d *directory) use(do func(fd int) error) (isOpen bool, err error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.kept == nil {
		return false, nil
	}
	return true, do(d.kept.fd)
}

// replace keeps another descriptor of the directory, nil for none, and returns the one before, which nobody uses any more.
func (d *directory) replace(opened *file) (before *file) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, d.kept = d.kept, opened
	return before
}

// close closes the directory, if it is open.
func (d *directory) close() error {
	if before := d.replace(nil); before != nil {
		return before.Close()
	}
	return nil
}

// inRoot calls a function with the descriptor of the directory of the store.
func (f *files) inRoot(do func(fd int) error) error {
	isOpen, err := f.root.use(do)
	if !isOpen {
		return fs.ErrClosed
	}
	return err
}

// in calls a function with the descriptor of a directory, which is made if need be and makes says so. It calls it again where it finds
// nothing in a directory that was kept: somebody may have removed that, and made another one.
func (f *files) in(number int, makes bool, do func(fd int) error) error {
	d := &f.directories[number]
	isOpen, err := d.use(do)
	if isOpen && !errors.Is(err, fs.ErrNotExist) {
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

// keep keeps a directory open, which is counted.
func (f *files) keep(d *directory, opened *file) error {
	before := d.replace(opened)
	if before == nil {
		return nil
	}
	f.kept.Add(-1)
	return before.Close()
}

// openDirectory opens a directory, and makes it if need be. No symbolic link is followed.
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

// openAt opens a file in a directory. It follows no symbolic link.
func openAt(directory int, name string, flags int, mode uint32) (*file, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Openat(directory, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{fd, name}, nil
}

// mostKept returns how many directories are kept open at most: a sixteenth of the files that the process may open.
func mostKept() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int64(min(limit.Cur/16, directories+1))
}
