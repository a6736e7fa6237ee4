package rules

import (
	"testing"
	"time"
)

// TestSecond: Time is the inverse of NewSecond, and the zero value is none.
func TestSecond(t *testing.T) {
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{
		{},
		first.Add(time.Second), time.Unix(-1, 0).UTC(), time.Unix(0, 0).UTC(),
		time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC), time.Date(9999, 12, 31,
			23, 59, 59, 0, time.UTC),
	} {
		s := NewSecond(at)
		if got := s.Time(); got != at || (s == 0) != at.IsZero() || s < 0 {
			t.Errorf("%s is %s, second %d", at, got, s)
		}
		if later := NewSecond(at.Add(time.Second)); !at.IsZero() && later-s != 1 {
			t.Errorf("a second after %s are %d", at, later-s)
		}
	}
}
