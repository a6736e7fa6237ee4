package body

import (
	"sync"
	"sync/atomic"
)

// Budget limits the memory of arriving bodies. It is safe for concurrent use.
type Budget struct {
	MaxBytes int64
	used     atomic.Int64
}

// take takes n bytes, and reports whether that many were left.
func (b *Budget) take(n int64) bool {
	if b.used.Add(n) > b.MaxBytes {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *Budget) give(n int64) { b.used.Add(-n) }

// Used returns the number of bytes taken.
func (b *Budget) Used() int64 { return b.used.Load() }

// Buffers are pools of buffers for passed-through bodies: small buffers, which most bodies fit into, and
// blocks. They are safe for concurrent use. A nil Buffers has no pool.
type Buffers struct{ small, blocks sync.Pool } // of *[]byte

// smallBuffer is the size of the small buffers.
const smallBuffer = 4 << 10

// of returns the pool for a size, nil if buffers of that size are not pooled.
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

// take returns a buffer of a size, with the bytes of its previous use.
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

// give returns a buffer to its pool.
func (b *Buffers) give(buffer *[]byte) {
	if pool := b.of(len(*buffer)); pool != nil {
		pool.Put(buffer)
	}
}
