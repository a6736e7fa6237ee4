package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// checked is which slices of a body were verified since the store was opened. It is safe
// for concurrent use: one reader verifies, the others wait for it.
type checked struct {
	body  int64
	slice []atomic.Bool

	mu   sync.Mutex
	left int    // slices that are not verified
	sums []byte // nil until they are read
}

func newChecked(body int64) *checked {
	n := slicesOf(body)
	return &checked{body: body, slice: make([]atomic.Bool, n), left: int(n)}
}

// verified returns how many octets are verified from an offset on.
func (c *checked) verified(offset int64) int64 {
	i := offset / sliceSize
	for i < int64(len(c.slice)) && c.slice[i].Load() {
		i++
	}
	return max(min(i*sliceSize, c.body)-offset, 0)
}

// verify verifies the slice at an offset; complete is whether it was the last one.
func (c *checked) verify(file *os.File, offset int64, sumOfSums uint32, buffers *sync.Pool) (complete bool, err error) {
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
		return false, fmt.Errorf("%w: the checksum of slice %d differs", ErrCorrupt, i)
	}
	c.slice[i].Store(true)
	c.left--
	return c.left == 0, nil
}

// buffer returns a buffer of at most a slice. Many bodies are much smaller than one.
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

func (c *checked) readSums(file *os.File, sumOfSums uint32) error {
	if c.sums != nil {
		return nil
	}
	sums := make([]byte, len(c.slice)*sumSize)
	if err := readAt(file, sums, c.body); err != nil {
		return err
	}
	if crc32.Checksum(sums, castagnoli()) != sumOfSums {
		return fmt.Errorf("%w: the checksum of its checksums differs", ErrCorrupt)
	}
	c.sums = sums
	return nil
}

// readAt fills b from a file; a file that ends before is corrupt.
func readAt(file *os.File, b []byte, offset int64) error {
	_, err := file.ReadAt(b, offset)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ends before octet %d", ErrCorrupt, offset+int64(len(b)))
	}
	return err
}
