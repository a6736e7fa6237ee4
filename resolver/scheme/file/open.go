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

// errSpecial is the error for a file that is neither regular nor a directory.
var errSpecial = errors.New("device, pipe or socket")

// open opens a regular file or a directory. It checks the type before opening, because opening a device may
// have side effects, and opening a pipe blocks until its other end is opened. O_NONBLOCK covers the race in
// which a pipe replaces the file after the check.
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
		_ = f.Close() // read-only, so Close cannot lose data
		return nil, nil, err
	}
	return f, info, nil
}

func isOrdinary(info fs.FileInfo) bool { return info.IsDir() || info.Mode().IsRegular() }

// noSuchFile is also the reason for a hidden file, so that its existence is not revealed.
const noSuchFile = "no such file"

// refusalOf maps an error of the file system to a response. It does not wrap the error, because its text has
// local paths.
func refusalOf(err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, errSpecial):
		return scheme.PolicyDenial(http.StatusForbidden, "file_special", "not a regular file: "+errSpecial.Error())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG),
		errors.Is(err, syscall.ELOOP):
		return scheme.PolicyDenial(http.StatusNotFound, "no_such_file", noSuchFile)
	case errors.Is(err, fs.ErrPermission):
		return scheme.PolicyDenial(http.StatusForbidden, "file_unreadable", "permission denied")
	case !errors.As(err, &errno): // os.Root rejects the path, with an error that is not exported
		return scheme.PolicyDenial(http.StatusForbidden, "file_outside", "link to outside of the served directory")
	default:
		return fmt.Errorf("%w: the file system: %w", resolver.ErrUnreachable, errno)
	}
}
