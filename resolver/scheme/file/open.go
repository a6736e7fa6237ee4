package file

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"syscall"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// errSpecial is for what is neither a file nor a directory.
var errSpecial = errors.New("a device, pipe or socket")

// open opens a regular file or a directory. It looks before it opens, since to open a device may change
// something, and to open a pipe waits for its other end; it does not wait either where a pipe has come in
// between.
func open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err == nil && !isOrdinary(info) {
		err = errSpecial
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !isOrdinary(info) {
		err = errSpecial
	}
	if err != nil {
		_ = f.Close() // it was only read
		return nil, nil, err
	}
	return f, info, nil
}

func isOrdinary(info fs.FileInfo) bool { return info.IsDir() || info.Mode().IsRegular() }

// noSuchFile is also said of what is hidden.
const noSuchFile = "there is no such file"

// refusalOf returns the error of the file system in our words: its own has paths.
func refusalOf(err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, errSpecial):
		return scheme.Decline(http.StatusForbidden, "file_special", "it is "+errSpecial.Error())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP):
		return scheme.Decline(http.StatusNotFound, "no_such_file", noSuchFile)
	case errors.Is(err, fs.ErrPermission):
		return scheme.Decline(http.StatusForbidden, "file_unreadable", "this server may not read it")
	case !errors.As(err, &errno): // os.Root refuses, without an error to compare with
		return scheme.Decline(http.StatusForbidden, "file_outside", "a link leads out of the directory that is served")
	default:
		return fmt.Errorf("%w: the file system: %w", resolver.ErrUnreachable, errno)
	}
}
