package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"
)

// file is an open file. An os.File costs two more system calls, to find out whether the file is pollable. The
// caller must close the file, but not while another goroutine uses it.
type file struct {
	fd   int // -1 after Close
	name string
}

var errNotRegular = fmt.Errorf("%w: not a regular file", ErrCorrupt)

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(b []byte, offset int64) (int, error) {
	for n := 0; ; {
		if n == len(b) {
			return n, nil
		}
		read, err := ignoringEINTR(func() (int, error) { return unix.Pread(f.fd, b[n:], offset+int64(n)) })
		switch {
		case errors.Is(err, unix.ESPIPE), errors.Is(err, unix.EISDIR): // for example of a named pipe
			return n, errNotRegular
		case err != nil:
			return n, f.failed("read", err)
		case read == 0:
			return n, io.EOF
		}
		n += read
	}
}

// Write implements io.Writer.
func (f *file) Write(b []byte) (int, error) {
	return f.writeAll(b, func(left []byte, _ int) (int, error) { return unix.Write(f.fd, left) })
}

// WriteAt implements io.WriterAt.
func (f *file) WriteAt(b []byte, offset int64) (int, error) {
	return f.writeAll(b, func(left []byte, done int) (int, error) {
		return unix.Pwrite(f.fd, left, offset+int64(done))
	})
}

func (f *file) writeAll(b []byte, write func(left []byte, done int) (int, error)) (n int, err error) {
	for n < len(b) {
		written, err := ignoringEINTR(func() (int, error) { return write(b[n:], n) })
		if err != nil {
			return n, f.failed("write", err)
		}
		n += written
	}
	return n, nil
}

func (f *file) truncate(length int64) error {
	_, err := ignoringEINTR(func() (int, error) { return 0, unix.Ftruncate(f.fd, length) })
	return f.failed("truncate", err)
}

// state returns the metadata of the file (fstat).
func (f *file) state() (unix.Stat_t, error) {
	var state unix.Stat_t
	_, err := ignoringEINTR(func() (int, error) { return 0, unix.Fstat(f.fd, &state) })
	return state, f.failed("stat", err)
}

func isRegular(state *unix.Stat_t) bool { return state.Mode&unix.S_IFMT == unix.S_IFREG }

// Close implements io.Closer.
func (f *file) Close() error {
	fd := f.fd
	f.fd = -1
	return f.failed("close", unix.Close(fd))
}

// failed returns err with the operation and the name of the file; nil for nil.
func (f *file) failed(operation string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: operation, Path: f.name, Err: err}
}

// ignoringEINTR repeats a system call that a signal has interrupted.
func ignoringEINTR(do func() (int, error)) (int, error) {
	for {
		if n, err := do(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
