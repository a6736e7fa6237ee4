package httpcache

import (
	"io"

	"github.com/urnd/urnd/cache/httpcache/disk"
)

// spool is the file that a body is written to while it arrives. What has left memory is read from
// it.
type spool struct {
	writer *disk.Writer
	// whole is whether all that has arrived is in the file; a fault of the disk ends that, and what
	// was written before can still be read.
	whole bool
}

// newSpool returns the spool of an object with a key, and a body of a length, -1 if unknown; nil where there is no disk, or
// it has no room.
func newSpool(on *disk.Store, key string, length int64) *spool {
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
	return &spool{w, true}
}

// write appends what has arrived, and reports whether all is in the file.
func (s *spool) write(p []byte) (whole bool) {
	_, err := s.writer.Write(p)
	return err == nil
}

// commit stores the object with a head, nil where the disk fails.
func (s *spool) commit(head []byte) *disk.Object {
	o, err := s.writer.Commit(head)
	if err != nil {
		return nil
	}
	return o
}

// readSpool returns what a reader needs next from the file, as b.blocks begin behind it; b.mu is
// held, and not while it reads.
func (r *bodyReader) readSpool() ([]byte, error) {
	b := r.body
	n := min(b.start-r.at, blockSize)
	if r.end >= 0 {
		n = min(n, r.end-r.at)
	}
	if r.buffer == nil {
		r.buffer = make([]byte, blockSize)
	}
	at, file := r.at, b.spool.writer
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
