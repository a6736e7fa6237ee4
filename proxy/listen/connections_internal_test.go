package listen

import (
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A change wakes all waiting goroutines: AnnounceShutdown is often still waiting when the server ends.
func TestChangeWakesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracked := newConnections(NewServer(ServerConfig{Now: time.Now}), t.Context(), new(sync.WaitGroup))
		near, far := net.Pipe()
		defer near.Close()
		c := newConn(tracked, far)
		tracked.add(c)
		var waiting sync.WaitGroup
		for range 3 {
			waiting.Go(func() { tracked.wait(t.Context(), tracked.empty) })
		}
		synctest.Wait()
		_ = c.Close()
		waiting.Wait()
	})
}
