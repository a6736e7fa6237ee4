package listen

import (
	"testing"
	"time"
)

// Time earns a client no more than emptyAtOnce frames that carry nothing, however long its connection is open, and never takes
// them away.
func TestEmptyFramesByAge(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, age := range []time.Duration{0, time.Hour, 3 * year, 200 * year} {
		now := time.Unix(0, 0)
		h := newHTTP2Conn(&requestConn{server: &Server{config: ServerConfig{Now: func() time.Time { return now }}}})
		_ = h.take(frame{kind: frameData, isEmpty: true})
		now = now.Add(age)
		got := 0
		for got < 10*emptyAtOnce && h.take(frame{kind: frameData, isEmpty: true}) == nil {
			got++
		}
		if got < emptyAtOnce-1 || got > emptyAtOnce {
			t.Errorf("after %v it may send %d at once", age, got)
		}
	}
}
