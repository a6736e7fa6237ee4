package quota

import (
	"context"
	"fmt"
)

// ErrQuota is the error of a key at its quota in a KeyedLimit. It wraps ErrBusy.
var ErrQuota = fmt.Errorf("%w: this client has reached its share", ErrBusy)

// KeyedLimit is a concurrency limit with a quota for each key, so that no key can exhaust it. A key identifies a
// client by more than its address, such as by a token. It is safe for concurrent use.
type KeyedLimit[K comparable] struct {
	all Semaphore
	own Queues[K]
}

// NewKeyedLimit returns a KeyedLimit with a total limit and a quota for each key.
func NewKeyedLimit[K comparable](all, each int) *KeyedLimit[K] {
	return &KeyedLimit[K]{all: make(Semaphore, all), own: Queues[K]{MaxPerKey: each}}
}

// Acquire starts an operation of a key without waiting. Unless it returns an error, the caller must call
// release once. The error is ErrQuota if the key is at its quota, and ErrBusy if the total limit is reached.
func (s *KeyedLimit[K]) Acquire(key K) (release func(), err error) {
	leave, ok := s.own.TryAcquire(key)
	if !ok {
		return nil, ErrQuota
	}
	if !s.all.TryAcquire() {
		leave()
		return nil, ErrBusy
	}
	return s.releaseBy(leave), nil
}

// Wait is like Acquire, but waits in FIFO order, first for the quota of the key: so at most a quota of its
// operations wait for the total limit ahead of others. The error is the cause of the end of ctx.
func (s *KeyedLimit[K]) Wait(ctx context.Context, key K) (release func(), err error) {
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

func (s *KeyedLimit[K]) releaseBy(leave func()) func() {
	return func() {
		s.all.Release()
		leave()
	}
}
