package quota

import (
	"context"
	"fmt"
)

// ErrShare is the error where a key has its whole part of Shares. It wraps ErrBusy.
var ErrShare = fmt.Errorf("%w: this client has its part of them", ErrBusy)

// Shares is a limit of concurrent operations, of which each key has a part, so that none can take all of them. A key is
// who is known by more than an address, such as a token. It is safe for concurrent use.
type Shares[K comparable] struct {
	all Semaphore
	own Queues[K]
}

// NewShares returns Shares of so many operations in all, and of each key.
func NewShares[K comparable](all, each int) *Shares[K] {
	return &Shares[K]{all: make(Semaphore, all), own: Queues[K]{Most: each}}
}

// Acquire takes a place for a key without waiting. The caller must call release once, unless there is an error: ErrShare
// where the key has its part, and ErrBusy where all are taken.
func (s *Shares[K]) Acquire(key K) (release func(), err error) {
	leave, ok := s.own.TryAcquire(key)
	if !ok {
		return nil, ErrShare
	}
	if !s.all.TryAcquire() {
		leave()
		return nil, ErrBusy
	}
	return s.releaseBy(leave), nil
}

// Wait is Acquire, but waits, in the order of the callers: first for what the key has itself, so that at most its part
// is before others. The error is the cause for which ctx has ended.
func (s *Shares[K]) Wait(ctx context.Context, key K) (release func(), err error) {
	leave, err := s.own.Acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	if err := s.all.Acquire(ctx); err != nil {
		leave()
		return nil, err
	}
	return s.releaseBy(leave), nil
}

func (s *Shares[K]) releaseBy(leave func()) func() {
	return func() {
		s.all.Release()
		leave()
	}
}
