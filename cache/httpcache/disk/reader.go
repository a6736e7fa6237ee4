package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// reader reads a part of a body. It verifies each slice before the first octet of it is
// returned, unless that was done since the store was opened.
type reader struct {
	object  *Object
	file    *os.File
	at, end int64
	checked *checked // nil if all slices are verified
}

// Open opens a part of the body; length -1 is up to the end. The first slice of it is
// verified here, others while they are read: a fault there is an error of the reader, and
// the object is removed. The reader also has WriteTo, which passes an *os.File in an
// *io.LimitedReader to ReadFrom: on a TCP connection, that is sendfile. It is for one
// goroutine, and stays readable after the object was removed.
func (o *Object) Open(offset, length int64) (io.ReadCloser, error) {
	if length < 0 {
		length = o.Size() - offset
	}
	if offset < 0 || length < 0 || offset > o.Size()-length {
		return nil, fmt.Errorf("opening a body of %d octets: there are not %d at %d", o.Size(), length, offset)
	}
	file, err := o.store.openBody(o.ref)
	if err != nil {
		return nil, fmt.Errorf("opening a body: %w", err)
	}
	r := &reader{object: o, file: file, at: offset, end: offset + length}
	r.checked = o.store.index.opened(o.ref, o.Size(), o.store.seconds())
	if _, err := r.verified(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening a body: %w", err), file.Close())
	}
	return r, nil
}

// openBody opens the file of an object, which Replace may rename meanwhile.
func (s *Store) openBody(r ref) (*os.File, error) {
	var e entry
	var err error
	for range tries {
		var ok bool
		if e, ok = s.index.shard(r.digest).current(r); !ok {
			return nil, ErrGone
		}
		var file *os.File
		if file, _, err = s.files.open(e.path(), os.O_RDONLY); err == nil {
			return file, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return nil, s.judge(e.name, err)
}

// opened notes that an object is used, and returns which slices are verified, nil for all.
func (x *index) opened(r ref, body int64, now uint32) *checked {
	s := x.shard(r.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.at(r)
	if e == nil || e.removed {
		return newChecked(body)
	}
	e.used = max(e.used, now)
	if e.verified {
		return nil
	}
	c := s.checked[r]
	if c == nil {
		c = newChecked(body)
		if s.checked == nil {
			s.checked = make(map[ref]*checked)
		}
		s.checked[r] = c
	}
	return c
}

// completed notes that all slices of an object are verified.
func (x *index) completed(r ref) {
	s := x.shard(r.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.at(r); e != nil {
		e.verified = true
	}
	delete(s.checked, r)
}

// verified returns how many octets can be returned next. They are verified.
func (r *reader) verified() (int64, error) {
	left := r.end - r.at
	if left == 0 || r.checked == nil {
		return left, nil
	}
	if n := r.checked.verified(r.at); n > 0 {
		return min(n, left), nil
	}
	complete, err := r.checked.verify(r.file, r.at, r.object.trailer.sumOfSums, &r.object.store.buffers)
	if err != nil {
		return 0, r.failed(err)
	}
	n := min(r.checked.verified(r.at), left)
	if complete {
		r.object.store.index.completed(r.object.ref)
		r.checked = nil
	}
	return n, nil
}

// failed removes an object that is corrupt.
func (r *reader) failed(err error) error {
	s := r.object.store
	if e, ok := s.index.shard(r.object.ref.digest).current(r.object.ref); ok {
		_ = s.judge(e.name, err) // it is the same error
	}
	return fmt.Errorf("reading a body: %w", err)
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.at == r.end {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := r.verified()
	if err != nil {
		return 0, err
	}
	p = p[:min(int64(len(p)), n)]
	if err := readAt(r.file, p, r.at); err != nil {
		return 0, r.failed(err)
	}
	r.at += int64(len(p))
	return len(p), nil
}

// WriteTo implements io.WriterTo.
func (r *reader) WriteTo(w io.Writer) (int64, error) {
	start := r.at
	if r.at < r.end {
		if _, err := r.file.Seek(r.at, io.SeekStart); err != nil {
			return 0, r.failed(err)
		}
	}
	for r.at < r.end {
		n, err := r.verified()
		if err != nil {
			return r.at - start, err
		}
		sent, err := io.Copy(w, &io.LimitedReader{R: r.file, N: n})
		r.at += sent
		if err == nil && sent < n {
			err = r.failed(fmt.Errorf("%w: it ends before octet %d", ErrCorrupt, r.end))
		}
		if err != nil {
			return r.at - start, err
		}
	}
	return r.at - start, nil
}

// Close implements io.Closer.
func (r *reader) Close() error { return r.file.Close() }
