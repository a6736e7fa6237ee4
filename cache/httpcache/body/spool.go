package body

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/httpcache/rules"
)

// Spool is the file that a body is written to while it arrives. What has left memory is read from
// it.
type Spool struct {
	writer *disk.Writer
	// whole is whether all that has arrived is in the file; a failure of the disk ends that, and what
	// was written before can still be read.
	whole bool
}

// NewSpool returns the spool of an object with a key, and a body of a length, -1 if unknown; nil where there is no
// disk, or it has no room.
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

// write appends what has arrived, and reports whether all is in the file.
func (s *Spool) write(p []byte) (whole bool) {
	_, err := s.writer.Write(p)
	return err == nil
}

// Commit stores the object with a head, nil where the disk fails.
func (s *Spool) Commit(head []byte) *disk.Object {
	o, err := s.writer.Commit(head)
	if err != nil {
		return nil
	}
	return o
}

// readSpool returns what a reader needs next from the file, as b.blocks begin behind it; b.mu is
// held, and not while it reads.
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
var ErrLost = errors.New("the stored content is lost")

// File is a content on disk.
type File struct{ Object *disk.Object }

// Size implements Body.
func (f File) Size() int64 { return f.Object.Size() }

// Memory implements Body: that of the object is counted with the response.
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

// openFile is a part of a content on disk.
type openFile struct{ file io.ReadCloser }

// SendTo implements Content.
func (o openFile) SendTo(w io.Writer, _ func()) error {
	_, err := io.Copy(w, o.file)
	return err
}

// Close implements Content.
func (o openFile) Close() { _ = o.file.Close() }
