package disk

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"
)

// Errors of a Writer: the object is not stored, which costs only a cache hit.
var (
	// ErrIndexing means that the used space is not known yet.
	ErrIndexing = errors.New("disk index not loaded yet")
	// ErrFull means that the budget is used up until objects are evicted.
	ErrFull = errors.New("disk budget exhausted")
	// ErrTooLarge means that an object would take more than a quarter of the budget.
	ErrTooLarge = errors.New("object exceeds the disk budget")
)

const (
	block         = 4096 // files occupy whole blocks, of this many bytes
	largestShare  = 4    // an object takes at most 1/largestShare of the budget
	headroomShare = 16   // eviction keeps 1/headroomShare of the budget free
)

// onDisk returns the space that a file of a length occupies, in bytes.
func onDisk(length int64) int64 { return (length + block - 1) &^ (block - 1) }

// space is the budget in bytes. used never exceeds it, unless the budget was reduced since the last start.
type space struct {
	maxBytes int64
	used     atomic.Int64
	indexed  atomic.Bool   // used includes all directories: nothing is stored before
	target   atomic.Int64  // eviction reduces used to this
	wake     chan struct{} // of capacity 1: eviction is necessary
}

func newSpace(maxBytes int64) *space {
	s := &space{maxBytes: maxBytes, wake: make(chan struct{}, 1)}
	s.target.Store(s.usual())
	return s
}

func (s *space) usual() int64 { return s.maxBytes - s.maxBytes/headroomShare }

// reserve takes n bytes from the budget, before they are written.
func (s *space) reserve(n int64) error {
	used := s.used.Add(n)
	if used > s.target.Load() {
		s.wakeUp()
	}
	if used > s.maxBytes || !s.indexed.Load() {
		s.used.Add(-n)
		return cmp.Or(s.refusal(), ErrFull)
	}
	return nil
}

// refusal returns why nothing can be stored, nil if it can.
func (s *space) refusal() error {
	switch {
	case !s.indexed.Load():
		return ErrIndexing
	case s.used.Load() >= s.maxBytes:
		return ErrFull
	}
	return nil
}

// release returns n bytes to the budget, after their file was removed.
func (s *space) release(n int64) { s.used.Add(-n) }

func (s *space) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// checkSize returns an error for a file that is too large.
func (s *space) checkSize(length int64) error {
	if most := s.maxBytes / largestShare; length > most {
		return fmt.Errorf("%w: longer than %d bytes", ErrTooLarge, most)
	}
	return nil
}
