package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"sync/atomic"
)

// checked records which slices of a body were verified, in a file with one stamp. It is safe for concurrent
// use: one reader verifies, the others wait for it.
type checked struct {
	stamp stamp
	body  int64
	slice []atomic.Bool

	mu   sync.Mutex
	left int    // number of slices not verified yet
	sums []byte // nil until read
}

func newChecked(of stamp, body int64) *checked {
	n := slicesOf(body)
	return &checked{stamp: of, body: body, slice: make([]atomic.Bool, n), left: int(n)}
}

// opened marks an object as used, and returns the verified slices of a file with this stamp, nil if all are
// verified. If the file may change without changing its stamp (isSettled is false), the result is for one
// reader only.
func (x *index) opened(r ref, body int64, now uint32, of stamp, settled bool) *checked {
	s := x.shard(r.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.at(r)
	if e == nil || e.removed {
		return newChecked(of, body)
	}
	e.used = max(e.used, now)
	if !settled {
		return newChecked(of, body)
	}
	if e.verified == of {
		return nil
	}
	c := s.checked[r]
	if c == nil || c.stamp != of {
		c = newChecked(of, body)
		if s.checked == nil {
			s.checked = make(map[ref]*checked)
		}
		s.checked[r] = c
	}
	return c
}

// completed records that all slices of an object are verified.
func (x *index) completed(r ref, c *checked) {
	s := x.shard(r.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checked[r] != c {
		return // for one reader, or the file has changed since
	}
	if e := s.at(r); e != nil {
		e.verified = c.stamp
	}
	delete(s.checked, r)
}

// verified returns the number of verified bytes from offset on.
func (c *checked) verified(offset int64) int64 {
	i := offset / sliceSize
	for i < int64(len(c.slice)) && c.slice[i].Load() {
		i++
	}
	return max(min(i*sliceSize, c.body)-offset, 0)
}

// verify verifies the slice at offset; complete is whether it was the last one.
func (c *checked) verify(file *file, offset int64, sumOfSums uint32, buffers *sync.Pool) (complete bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := offset / sliceSize
	if c.slice[i].Load() {
		return c.left == 0, nil
	}
	if err := c.readSums(file, sumOfSums); err != nil {
		return false, err
	}
	b, free := buffer(buffers, min(c.body-i*sliceSize, sliceSize))
	defer free()
	if err := readAt(file, b, i*sliceSize); err != nil {
		return false, err
	}
	if crc32.Checksum(b, castagnoli()) != binary.LittleEndian.Uint32(c.sums[i*sumSize:]) {
		return false, fmt.Errorf("%w: checksum mismatch in slice %d", ErrCorrupt, i)
	}
	c.slice[i].Store(true)
	c.left--
	return c.left == 0, nil
}

// buffer returns a buffer of at most a slice; most bodies are much smaller.
func buffer(buffers *sync.Pool, size int64) (b []byte, free func()) {
	const small = 64 << 10
	if size <= small {
		return make([]byte, size), func() {}
	}
	whole, ok := buffers.Get().(*[sliceSize]byte)
	if !ok {
		whole = new([sliceSize]byte)
	}
	return whole[:size], func() { buffers.Put(whole) }
}

func (c *checked) readSums(file *file, sumOfSums uint32) error {
	if c.sums != nil {
		return nil
	}
	sums := make([]byte, len(c.slice)*sumSize)
	if err := readAt(file, sums, c.body); err != nil {
		return err
	}
	if crc32.Checksum(sums, castagnoli()) != sumOfSums {
		return fmt.Errorf("%w: checksum mismatch of the checksums", ErrCorrupt)
	}
	c.sums = sums
	return nil
}

// readAt fills b from a file; a file that is too short is corrupt.
func readAt(file *file, b []byte, offset int64) error {
	_, err := file.ReadAt(b, offset)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: truncated before byte %d", ErrCorrupt, offset+int64(len(b)))
	}
	return err
}
