package quota

import "context"

// Semaphore bounds concurrent operations of all clients. Its capacity is their maximum, and its length is how many
// run, which golang.org/x/sync/semaphore does not tell. nil admits none. It is safe for concurrent use.
type Semaphore chan struct{}

// Resized returns s where its capacity is n, and a new semaphore otherwise.
func (s Semaphore) Resized(n int) Semaphore {
	if cap(s) == n {
		return s
	}
	return make(Semaphore, n)
}

// TryAcquire admits an operation where one more may run, and reports whether it did.
func (s Semaphore) TryAcquire() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// Acquire admits an operation, and waits until it may run, in the order of the callers. The error is the cause for which
// ctx has ended.
func (s Semaphore) Acquire(ctx context.Context) error {
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

// Release ends an operation that was admitted.
func (s Semaphore) Release() { <-s }

func (s Semaphore) release(n int) {
	for range n {
		s.Release()
	}
}
