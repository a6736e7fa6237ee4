package http

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestStallTimer: what is sent restarts the timeout, and between two reads, while the client is slow, there is none.
func TestStallTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		canceled := false
		s := &stallTimer{timeout: time.Second, cancel: func() { canceled = true }}
		s.begin()
		time.Sleep(900 * time.Millisecond)
		s.sent()
		time.Sleep(900 * time.Millisecond)
		if s.end() || canceled {
			t.Error("expired although bytes were sent")
		}
		time.Sleep(time.Minute)
		s.sent()
		s.begin()
		time.Sleep(900 * time.Millisecond)
		if s.end() || canceled {
			t.Error("expired between two reads")
		}
		s.begin()
		time.Sleep(time.Second)
		synctest.Wait()
		if !s.end() || !canceled {
			t.Error("not expired")
		}
		s.begin()
		s.sent()
		if !s.end() {
			t.Error("no longer expired")
		}
	})
}
