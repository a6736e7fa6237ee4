package quota

import (
	"context"
	"sync"
)

// Queues lets some operations with the same key run at a time, in the order in which they came. A key is in the table as
// long as one of its operations runs or waits, so what waits is bounded by the caller. The zero value is ready to use, and
// lets one run. It is safe for concurrent use.
type Queues[K comparable] struct {
	Most int // operations with one key that run at a time; 0 is 1. It is set before use

	mu  sync.Mutex
	all map[K]*queue
}

type queue struct {
	running Semaphore
	users   int // operations that run or wait
}

// Acquire waits until an operation with the key may run. The caller must call release once, unless there is an error:
// the cause for which ctx has ended.
func (q *Queues[K]) Acquire(ctx context.Context, key K) (release func(), err error) {
	own := q.join(key)
	if err := own.running.Acquire(ctx); err != nil {
		q.leave(key, own)
		return nil, err
	}
	return q.releaseOf(key, own), nil
}

// TryAcquire is Acquire without waiting: ok is false where as many operations with the key run as may.
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

// Len returns how many keys have an operation that runs or waits.
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
		own = &queue{running: make(Semaphore, max(q.Most, 1))}
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
