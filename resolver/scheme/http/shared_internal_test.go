package http

import (
	"sync"
	"testing"
)

// TestSharedOnceAdded retires a connection while it is added, for the race detector.
func TestSharedOnceAdded(t *testing.T) {
	s := newSharedConns(1)
	c := &http2Conn{key: key{}}
	var others sync.WaitGroup
	others.Go(func() { s.add(c) })
	others.Go(func() {
		for there := false; !there; {
			s.mu.Lock()
			if there = len(s.conns[c.key]) > 0; there && !c.shared {
				t.Error("a connection can be found before others may use it")
			}
			s.mu.Unlock()
		}
	})
	others.Wait()
}
