package quota

import "context"

// Semaphore limits concurrent operations. Its capacity is the maximum and its length the number of running
// operations, which golang.org/x/sync/semaphore does not expose. A nil Semaphore admits none. It is safe for
// concurrent use.
type Semaphore chan struct{}

// Resized returns s if its capacity is n, and a new semaphore otherwise.
func (s Semaphore) Resized(n int) Semaphore {
	if cap(s) == n {
		return s
	}
	return make(Semaphore, n)
}

// TryAcquire starts an operation if the limit permits it, and reports whether it did.
func (s Semaphore) TryAcquire() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// Acquire waits in FIFO order until the limit permits an operation. The error is the cause of the end of ctx.
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

// Release ends an operation.
func (s Semaphore) Release() { <-s }

func (s Semaphore) release(n int) {
	for range n {
		s.Release()
	}
}
