package cache_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/cache"
)

// No event is lost with concurrent counting, nor when a garbage collection clears the pool of cells.
func TestCounter(t *testing.T) {
	const goroutines, each = 32, 3000
	var c cache.Counter
	if n := c.Load(); n != 0 {
		t.Errorf("a new counter is at %d", n)
	}
	var running sync.WaitGroup
	for i := range goroutines {
		running.Go(func() {
			for range each {
				c.Add(2)
			}
			if i%4 == 0 {
				runtime.GC()
			}
		})
	}
	running.Wait()
	if n := c.Load(); n != goroutines*each*2 {
		t.Errorf("%d, want %d", n, goroutines*each*2)
	}
}

// BenchmarkCounter compares a Counter with a single atomic number: use -cpu 1,2.
func BenchmarkCounter(b *testing.B) {
	var sharded cache.Counter
	var single atomic.Uint64
	for name, add := range map[string]func(uint64){
		"sharded": sharded.Add,
		"single":  func(n uint64) { single.Add(n) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					add(1)
				}
			})
		})
	}
}
