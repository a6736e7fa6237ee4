package quota_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/urnd/urnd/internal/quota"
)

// TestQueuesOfMany checks that MaxPerKey operations with one key run concurrently.
func TestQueuesOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := quota.Queues[string]{MaxPerKey: 2}
		running := make(chan func(), 3)
		for range 3 {
			go func() {
				release, err := queues.Acquire(t.Context(), "a")
				if err != nil {
					t.Error(err)
				}
				running <- release
			}()
		}
		synctest.Wait()
		if len(running) != 2 {
			t.Errorf("%d run", len(running))
		}
		for range 3 {
			(<-running)()
			synctest.Wait()
		}
		if queues.Len() != 0 {
			t.Errorf("%d keys are left", queues.Len())
		}
	})
}

// TestQueues checks that operations with one key run in FIFO order, that those with other keys do not wait for
// them, and that a canceled waiter does not block others.
func TestQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var queues quota.Queues[string]
		var order []int
		releases := make(chan func())
		run := func(ctx context.Context, n int, want error) {
			release, err := queues.Acquire(ctx, "a")
			if !errors.Is(err, want) {
				t.Errorf("%d: %v, want %v", n, err, want)
			}
			if err == nil {
				order = append(order, n)
				releases <- release
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		for n := range 5 {
			if n == 3 {
				go run(ctx, n, errFull)
			} else {
				go run(t.Context(), n, nil)
			}
			synctest.Wait()
		}
		other, err := queues.Acquire(t.Context(), "b")
		if err != nil || queues.Len() != 2 {
			t.Errorf("another key: %v, of %d", err, queues.Len())
		}
		other()
		cancel(errFull)
		for range 4 {
			release := <-releases
			synctest.Wait() // no other operation runs concurrently
			release()
		}
		synctest.Wait()
		if !slices.Equal(order, []int{0, 1, 2, 4}) || queues.Len() != 0 {
			t.Errorf("they ran in the order %v, and %d keys are left", order, queues.Len())
		}
	})
}
