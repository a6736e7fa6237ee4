package daemon

import (
	"strings"
	"testing"
	"time"
)

// TestHealthOfDNS checks that the reported time is that of the first failure since the last answer.
func TestHealthOfDNS(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := NewHealth(func() time.Time { return now }, func(s string) string { return s })
	for i, tt := range []struct {
		answered bool   // one query per hour
		since    string // "" if DNS answers
	}{{true, ""}, {false, "05:04:05"}, {false, "05:04:05"}, {true, ""}, {false, "08:04:05"}, {false, "08:04:05"}} {
		now = now.Add(time.Hour)
		h.RecordQuery(tt.answered)
		unready, degraded := h.Report()
		got := strings.Join(degraded, "; ")
		if len(unready) > 0 || (got == "") != (tt.since == "") || !strings.Contains(got, tt.since) {
			t.Errorf("after query %d: %q, %q", i+1, unready, got)
		}
	}
}
