package body

import (
	"sync"
	"sync/atomic"
)

// Budget bounds the memory of bodies that are arriving. It is safe for concurrent use.
type Budget struct {
	Most int64
	used atomic.Int64
}

// take takes n bytes, and reports whether there were as many.
func (b *Budget) take(n int64) bool {
	if b.used.Add(n) > b.Most {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *Budget) give(n int64) { b.used.Add(-n) }

// Used returns how many bytes are taken.
func (b *Budget) Used() int64 { return b.used.Load() }

// Buffers are used again for what is passed through: small ones, which most bodies fit into, and blocks. They are safe
// for concurrent use. nil has none.
type Buffers struct{ small, blocks sync.Pool } // of *[]byte

// smallBuffer is the size of the small ones.
const smallBuffer = 4 << 10

// of returns the buffers for a size, nil where those of that size are not used again.
func (b *Buffers) of(size int) *sync.Pool {
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

// take returns a buffer of a size, with the bytes of an earlier use.
func (b *Buffers) take(size int) *[]byte {
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

// give returns a buffer that is in use no more.
func (b *Buffers) give(buffer *[]byte) {
	if pool := b.of(len(*buffer)); pool != nil {
		pool.Put(buffer)
	}
}
