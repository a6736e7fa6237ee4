package schemetest

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// hang is the timeout of an operation that should take no time, and soon the default of Suite.PromptTimeout. Both are
// generous, for a busy machine.
const (
	hangTimeout   = time.Minute
	promptTimeout = 10 * time.Second
)

// resourceCount is the number of goroutines and of file descriptors of the process.
type resourceCount struct{ goroutines, descriptors int }

func count() resourceCount {
	open, _ := os.ReadDir("/proc/self/fd") // 0 on systems without /proc
	return resourceCount{runtime.NumGoroutine(), len(open)}
}

// settle waits until the numbers are at most those of before, and fails the test after limit.
func (before resourceCount) settle(t testing.TB, limit time.Duration) {
	t.Helper()
	var now resourceCount
	if !eventually(limit, func() bool {
		now = count()
		return now.goroutines <= before.goroutines && now.descriptors <= before.descriptors
	}) {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines and %d descriptors leaked; before: %d and %d:\n%s", now.goroutines, now.descriptors,
			before.goroutines,
			before.descriptors, stacks[:runtime.Stack(stacks, true)])
	}
}

// eventually reports whether a condition becomes true within a limit.
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

// heap returns the number of live bytes on the heap.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc) //nolint:gosec // a heap has fewer than 2^63 bytes
}
