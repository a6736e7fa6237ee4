package httpcache

import "sync"

// buffers are used again for what is passed on: small ones, which most bodies fit into, and blocks. They are safe for concurrent use. nil
// has none.
type buffers struct{ small, blocks sync.Pool } // of *[]byte

// smallBuffer is the size of the small ones.
const smallBuffer = 4 << 10

// of returns the buffers for a size, nil where those of that size are not used again.
func (b *buffers) of(size int) *sync.Pool {
	switch {
	case b == nil:
		return nil
	case size <= smallBuffer:
		return &b.small
	case size == blockSize:
		return &b.blocks
	default:
		return nil
	}
}

// take returns a buffer of a size. What it has is of others.
func (b *buffers) take(size int) *[]byte {
	pool := b.of(size)
	if pool == nil {
		made := make([]byte, size)
		return &made
	}
	if used, ok := pool.Get().(*[]byte); ok {
		*used = (*used)[:size]
		return used
	}
	made := make([]byte, size, max(size, smallBuffer))
	return &made
}

// give gives a buffer back, which nobody reads any more.
func (b *buffers) give(buffer *[]byte) {
	if pool := b.of(len(*buffer)); pool != nil {
		pool.Put(buffer)
	}
}
