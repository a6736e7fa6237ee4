package session_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/admin/session"
)

// An outcome is shown until it is removed, only in the same browser, and expires.
func TestOutcomes(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	s := session.New(func() time.Time { return now })
	id := s.KeepOutcome("a", "done")
	for _, tt := range []struct {
		cookie, id string
		want       string
	}{{"b", id, ""}, {"", id, ""}, {"a", "", ""}, {"a", "x", ""}, {"a", id, "done"}, {"a", id, "done"}} {
		if got := s.Outcome(tt.cookie, tt.id); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	s.RemoveOutcome("x")
	s.RemoveOutcome(id)
	if got := s.Outcome("a", id); got != "" {
		t.Errorf("after its removal: %q", got)
	}
	id = s.KeepOutcome("a", "late")
	now = now.Add(time.Hour)
	if got := s.Outcome("a", id); got != "" {
		t.Errorf("after an hour: %q", got)
	}
	first := s.KeepOutcome("a", "first")
	for i := range 1000 {
		now = now.Add(time.Millisecond)
		s.KeepOutcome("a", strconv.Itoa(i))
	}
	if got := s.Outcome("a", first); got != "" {
		t.Error("they are not bounded")
	}
}
