package schemetest

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// hang is how long anything may take that takes no time, and soon what must end at once (Suite.Soon): generous bounds,
// for a busy machine.
const (
	hang = time.Minute
	soon = 10 * time.Second
)

// account is how many goroutines and descriptors there are.
type account struct{ goroutines, descriptors int }

func count() account {
	open, _ := os.ReadDir("/proc/self/fd") // none where there is no such directory
	return account{runtime.NumGoroutine(), len(open)}
}

// settle waits, up to a limit, until there are no more than before.
func (before account) settle(t testing.TB, limit time.Duration) {
	t.Helper()
	var now account
	if !eventually(limit, func() bool {
		now = count()
		return now.goroutines <= before.goroutines && now.descriptors <= before.descriptors
	}) {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines and %d descriptors are left of %d and %d:\n%s", now.goroutines, now.descriptors, before.goroutines,
			before.descriptors, stacks[:runtime.Stack(stacks, true)])
	}
}

// eventually reports whether a condition holds within a limit.
func eventually(limit time.Duration, condition func() bool) bool {
	timer, ticker := time.NewTimer(limit), time.NewTicker(time.Millisecond)
	defer timer.Stop()
	defer ticker.Stop()
	for !condition() {
		select {
		case <-timer.C:
			return condition()
		case <-ticker.C:
		}
	}
	return true
}

// heap returns how many octets live on the heap.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc) //nolint:gosec // a heap has fewer than 2^63 octets
}
