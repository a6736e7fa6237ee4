package disk

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrLocked means that another store, maybe of another process, uses the directory.
var ErrLocked = errors.New("the directory is in use by another process")

// lock locks the directory until the returned file is closed. The kernel closes it when
// the process ends, in whatever way.
func lock(root *os.Root) (*os.File, error) {
	file, err := root.OpenFile("lock", os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
