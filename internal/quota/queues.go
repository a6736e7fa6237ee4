package quota

import (
	"context"
	"sync"
)

// Queues limits concurrent operations per key and runs them in FIFO order. The table contains a key only while
// one of its operations runs or waits; the caller must limit the number of waiting operations. The zero value
// is ready to use and runs one operation per key. It is safe for concurrent use.
type Queues[K comparable] struct {
	MaxPerKey int // concurrent operations per key; 0 is 1. It must be set before use

	mu  sync.Mutex
	all map[K]*queue
}

type queue struct {
	running Semaphore
	users   int // running and waiting operations
}

// Acquire waits until an operation with this key may run. Unless it returns an error, the caller must call
// release once. The error is the cause of the end of ctx.
func (q *Queues[K]) Acquire(ctx context.Context, key K) (release func(), err error) {
	own := q.join(key)
	if err := own.running.Acquire(ctx); err != nil {
		q.leave(key, own)
		return nil, err
	}
	return q.releaseOf(key, own), nil
}

// TryAcquire is like Acquire, but does not wait: ok is false if the limit of the key is reached.
func (q *Queues[K]) TryAcquire(key K) (release func(), ok bool) {
	own := q.join(key)
	if !own.running.TryAcquire() {
		q.leave(key, own)
		return nil, false
	}
	return q.releaseOf(key, own), true
}

func (q *Queues[K]) releaseOf(key K, own *queue) func() {
	return func() {
		own.running.Release()
		q.leave(key, own)
	}
}

// Len returns the number of keys with running or waiting operations.
func (q *Queues[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.all)
}

func (q *Queues[K]) join(key K) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.all[key]
	if own == nil {
		if q.all == nil {
			q.all = make(map[K]*queue)
		}
		own = &queue{running: make(Semaphore, max(q.MaxPerKey, 1))}
		q.all[key] = own
	}
	own.users++
	return own
}

func (q *Queues[K]) leave(key K, own *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(q.all, key)
	}
}
