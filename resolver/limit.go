package resolver

import "context"

// Slots is a semaphore: its capacity limits concurrent operations, and its length is how many of them run, which those of
// golang.org/x/sync do not say. nil has none. It is safe for concurrent use.
type Slots chan struct{}

// TryAcquire takes a slot without waiting, and reports whether one was free.
func (s Slots) TryAcquire() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// Acquire takes a slot, and waits for one where none is free. The error is the cause for which ctx has ended.
func (s Slots) Acquire(ctx context.Context) error {
	if s.TryAcquire() {
		return nil
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Release returns a slot taken by TryAcquire or Acquire.
func (s Slots) Release() { <-s }

// Limit is a Resolver that asks Next if a slot is free, and fails otherwise. Behind Cached
// it limits only names that are not cached, and around a member of a Chain only those that
// this member is asked for.
type Limit struct {
	Slots Slots
	Next  Resolver
	// Busy is the error if no slot is free; nil means ErrBusy.
	Busy error
}

// Resolve implements Resolver.
func (l Limit) Resolve(ctx context.Context, q Query) (Answer, error) {
	if q.NoSlot != nil {
		return Answer{}, q.NoSlot
	}
	if !l.Slots.TryAcquire() {
		if l.Busy != nil {
			return Answer{}, l.Busy
		}
		return Answer{}, ErrBusy
	}
	defer l.Slots.Release()
	return l.Next.Resolve(ctx, q)
}
