package body

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/httpcache/rules"
)

// Spool is the file that a body is written to while it arrives. Bytes no longer in memory are read from it.
type Spool struct {
	writer *disk.Writer
	// whole is whether the file has all arrived bytes. A disk failure resets it; the bytes written before can
	// still be read.
	whole bool
}

// NewSpool returns the spool of an object with a key and a body of a length, -1 if unknown. It returns nil
// without a disk or without space on it.
func NewSpool(on *disk.Store, key string, length int64) *Spool {
	if on == nil {
		return nil
	}
	w, err := on.Create(key)
	if err != nil {
		return nil
	}
	if length > 0 && w.Reserve(length) != nil {
		_ = w.Close()
		return nil
	}
	return &Spool{w, true}
}

// write appends arrived bytes, and reports whether the file has them all.
func (s *Spool) write(p []byte) (whole bool) {
	_, err := s.writer.Write(p)
	return err == nil
}

// Commit stores the object with a head, and returns nil if the disk fails.
func (s *Spool) Commit(head []byte) *disk.Object {
	o, err := s.writer.Commit(head)
	if err != nil {
		return nil
	}
	return o
}

// readSpool returns the next bytes of a reader from the file, up to the beginning of b.blocks. b.mu is held,
// and released while it reads.
func (r *Reader) readSpool() ([]byte, error) {
	b := r.body
	n := min(b.start-r.at, blockSize)
	if r.end >= 0 {
		n = min(n, r.end-r.at)
	}
	if r.buffer == nil {
		r.buffer = make([]byte, blockSize)
	}
	at, file := r.at, b.from.Spool.writer
	b.mu.Unlock()
	read, err := file.ReadAt(r.buffer[:n], at)
	b.mu.Lock()
	if int64(read) == n {
		return r.buffer[:n], nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// ErrLost means that the disk has lost a content.
var ErrLost = errors.New("stored content removed")

// File is a content on disk.
type File struct{ Object *disk.Object }

// Size implements Body.
func (f File) Size() int64 { return f.Object.Size() }

// Memory implements Body: the memory of the object is counted with the response.
func (File) Memory() int { return 0 }

// Open implements Body.
func (f File) Open(_ context.Context, part rules.Span) (Content, error) {
	length := int64(-1)
	if part.End >= 0 {
		length = part.End - part.Start
	}
	file, err := f.Object.Open(part.Start, length)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	}
	return openFile{file}, nil
}

// openFile is a reader of a part of a content on disk.
type openFile struct{ file io.ReadCloser }

// SendTo implements Content.
func (o openFile) SendTo(w io.Writer, _ func()) error {
	_, err := io.Copy(w, o.file)
	return err
}

// Close implements Content.
func (o openFile) Close() { _ = o.file.Close() }
