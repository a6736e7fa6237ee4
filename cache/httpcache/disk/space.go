package disk

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"
)

// Errors of a Writer: they cost a hit only.
var (
	// ErrIndexing means that it is not known yet how much is stored.
	ErrIndexing = errors.New("the index of the disk is being made")
	// ErrFull means that the budget is used up until more is evicted.
	ErrFull = errors.New("the budget of the disk is used up")
	// ErrTooLarge means that an object would take more than a quarter of the budget.
	ErrTooLarge = errors.New("the object is too large for the budget of the disk")
)

const (
	block         = 4096 // files take whole blocks
	largestShare  = 4    // of the budget, for one object: a quarter
	headroomShare = 16   // of the budget, which eviction keeps free
)

// onDisk returns how much a file takes, in bytes.
func onDisk(length int64) int64 { return (length + block - 1) &^ (block - 1) }

// space is the budget. What is used never exceeds it, unless it was made smaller since
// the last start.
type space struct {
	maxBytes int64
	used     atomic.Int64
	indexed  atomic.Bool   // used is of all directories: nothing is stored before
	target   atomic.Int64  // what eviction leaves
	wake     chan struct{} // of capacity 1: there is something to evict
}

func newSpace(maxBytes int64) *space {
	s := &space{maxBytes: maxBytes, wake: make(chan struct{}, 1)}
	s.target.Store(s.usual())
	return s
}

func (s *space) usual() int64 { return s.maxBytes - s.maxBytes/headroomShare }

// reserve takes n bytes before they are written.
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

// refusal returns why nothing can be stored, nil where it can.
func (s *space) refusal() error {
	switch {
	case !s.indexed.Load():
		return ErrIndexing
	case s.used.Load() >= s.maxBytes:
		return ErrFull
	}
	return nil
}

// release returns bytes, after their file was removed.
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
		return fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, most)
	}
	return nil
}
