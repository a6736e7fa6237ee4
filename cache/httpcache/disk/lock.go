package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrLocked means that another store, possibly of another process, uses the directory.
var ErrLocked = errors.New("directory in use by another process")

// lock locks the directory until the returned file is closed. The kernel closes it when the process ends for
// any reason.
func (f *files) lock() (*file, error) {
	var file *file
	err := f.inRoot(func(root int) (err error) {
		file, err = openAt(root, "lock", os.O_RDWR|os.O_CREATE, fileMode)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	err = unix.Flock(file.fd, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
