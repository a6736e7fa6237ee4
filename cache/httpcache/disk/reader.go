package disk

import (
	"errors"
	"fmt"
	"io"
)

// reader reads a part of a body. It verifies each slice before it returns the first byte of it, unless it was
// verified before in the unchanged file: see stamp.
type reader struct {
	object  *Object
	file    *file
	at, end int64
	stamp   stamp    // of the last known state of the file
	checked *checked // nil if all slices are verified
}

// Open opens a part of the body; length -1 is up to the end. It verifies the first slice of the part; the
// others are verified while they are read. Corruption of a later slice is an error of the reader, and removes
// the object. So is a change of the file by another process during the reading: the reader returns only bytes
// of the body as it was stored. It copies the bytes, because with sendfile they could change until the client
// has received them. The reader implements io.WriterTo, with a buffer of 64 KiB. It is for one goroutine, and
// stays readable after the object was removed.
func (o *Object) Open(offset, length int64) (io.ReadCloser, error) {
	if length < 0 {
		length = o.Size() - offset
	}
	if offset < 0 || length < 0 || offset > o.Size()-length {
		return nil, fmt.Errorf("opening a body of %d bytes: no %d bytes at %d", o.Size(), length, offset)
	}
	file, err := o.store.openBody(o.ref)
	if err != nil {
		return nil, fmt.Errorf("opening a body: %w", err)
	}
	r := &reader{object: o, file: file, at: offset, end: offset + length}
	if err = r.look(); err == nil {
		_, err = r.verified()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening a body: %w", r.failed(err)), file.Close())
	}
	return r, nil
}

// look updates the stamp and the verified slices to the current state of the file.
func (r *reader) look() error {
	s := r.object.store
	now, settled, err := s.stampOf(r.file, r.object.trailer.sumOfSums)
	if err != nil {
		return err
	}
	r.stamp = now
	r.checked = s.index.opened(r.object.ref, r.object.Size(), s.seconds(), now, settled)
	return nil
}

// verified returns the number of verified bytes from r.at on, after verifying a slice if necessary.
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
		return 0, err
	}
	n := min(r.checked.verified(r.at), left)
	if complete {
		r.object.store.index.completed(r.object.ref, r.checked)
		r.checked = nil
	}
	return n, nil
}

// failed removes an object that is corrupt.
func (r *reader) failed(err error) error {
	s := r.object.store
	if e, ok := s.index.shard(r.object.ref.digest).current(r.object.ref); ok {
		_ = s.discardIfLost(e.name, err) // it returns err
	}
	return fmt.Errorf("reading a body: %w", err)
}

// errChanged means that a file was changed while it was read.
var errChanged = fmt.Errorf("%w: changed by a writer", ErrCorrupt)

// next reads verified bytes. It reads them before it checks the stamp: if that is unchanged, the bytes are
// those that were verified.
func (r *reader) next(p []byte) (int, error) {
	n, err := r.verified()
	if err != nil {
		return 0, err
	}
	p = p[:min(int64(len(p)), n)]
	if err := readAt(r.file, p, r.at); err != nil {
		return 0, err
	}
	now, _, err := r.object.store.stampOf(r.file, r.object.trailer.sumOfSums)
	if err == nil && now != r.stamp {
		err = errChanged
	}
	return len(p), err
}

// again is next in a changed file, which it verifies again. Replace and the removal of the object also change
// the file: Replace waits for the lock, and the removal happens only once.
func (r *reader) again(p []byte) (n int, err error) {
	sh := r.object.store.index.shard(r.object.ref.digest)
	sh.replacing.Lock()
	defer sh.replacing.Unlock()
	for range tries {
		if err = r.look(); err != nil {
			return 0, err
		}
		if n, err = r.next(p); !errors.Is(err, errChanged) {
			break
		}
	}
	return n, err
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.at == r.end {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := r.next(p)
	if errors.Is(err, errChanged) {
		n, err = r.again(p)
	}
	if err != nil {
		return 0, r.failed(err)
	}
	r.at += int64(n)
	return n, nil
}

// chunkSize is the buffer size for WriteTo, in bytes.
const chunkSize = 64 << 10

// chunk returns a buffer of chunkSize.
func (s *Store) chunk() (b []byte, free func()) {
	whole, ok := s.chunks.Get().(*[chunkSize]byte)
	if !ok {
		whole = new([chunkSize]byte)
	}
	return whole[:], func() { s.chunks.Put(whole) }
}

// WriteTo implements io.WriterTo.
func (r *reader) WriteTo(w io.Writer) (int64, error) {
	chunk, free := r.object.store.chunk()
	defer free()
	start := r.at
	for {
		n, err := r.Read(chunk)
		if errors.Is(err, io.EOF) {
			return r.at - start, nil
		}
		if err != nil {
			return r.at - start, err
		}
		if sent, err := w.Write(chunk[:n]); err != nil {
			return r.at - start - int64(n-sent), err
		}
	}
}

// Close implements io.Closer.
func (r *reader) Close() error { return r.file.Close() }
