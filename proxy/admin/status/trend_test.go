package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/pages"
)

// figure returns that of an id.
func figure(t *testing.T, s pages.State, id string) pages.Figure {
	t.Helper()
	for _, f := range s.Figures {
		if f.ID == id {
			return f
		}
	}
	t.Fatalf("no %s in %+v", id, s.Figures)
	return pages.Figure{}
}

func TestTrend(t *testing.T) {
	m := metrics.New("1")
	now := time.Unix(0, 0)
	s := sources(m)
	s.Now = func() time.Time { return now }
	hits, misses := uint64(0), uint64(0)
	s.Caches = func() []metrics.Cache {
		return []metrics.Cache{{Name: "answers", Lookups: map[string]uint64{"hit": hits, "miss": misses}}, {Name: "records", Lookups: map[string]uint64{"miss": 1 << 40}}}
	}
	s.Sample()
	now = now.Add(time.Second)
	s.Sample() // too early
	for range 20 {
		m.Request("path", "I2L", 302, 30*time.Microsecond)
	}
	m.Request("path", "I2L", 302, 30*time.Microsecond)
	hits, misses = 3, 1
	now = now.Add(4 * time.Second)
	for id, want := range map[string]string{"rate": "4.2/s", "hits": "75.0 %", "latency": "49 µs", "failures": "0.0 %"} {
		if got := figure(t, s.State(), id); got.Text != want || got.Line != "" || got.Severity != "" {
			t.Errorf("before the first step: %+v, want %s", got, want)
		}
	}
	now = now.Add(5 * time.Second)
	s.Sample()
	now = now.Add(10 * time.Second)
	hits, misses = 0, 1 // a reload has replaced the cache
	for range 6 {
		m.Request("path", "I2L", 503, time.Second)
	}
	s.Sample()
	now = now.Add(10 * time.Second)
	s.Sample()
	state := s.State()
	for id, want := range map[string]string{"rate": "88,1 89,17 90,23", "hits": "88,1 89,23", "latency": "88,23 89,1", "failures": "88,23 89,1"} {
		if got := figure(t, state, id); got.Line != want {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	if got := figure(t, state, "failures"); got.Severity != pages.Critical || got.Text != "22.2 %" || got.Note != "6 in 15 minutes" {
		t.Errorf("%+v", got)
	}
	if got := figure(t, state, "rate"); got.Text != "0.9/s" || !strings.HasPrefix(got.Note, "at most 2.1/s in 15 minutes") {
		t.Errorf("%+v", got)
	}
	for range 6 {
		now = now.Add(10 * time.Second)
		s.Sample()
	}
	if got := figure(t, s.State(), "failures"); got.Severity != "" || got.Text != "–" || got.Note != "6 in 15 minutes" {
		t.Errorf("a minute later: %+v", got)
	}
	for range 100 {
		now = now.Add(10 * time.Second)
		s.Sample()
	}
	if got := figure(t, s.State(), "rate"); strings.Count(got.Line, ",") != pages.CourseWidth-1 || !strings.HasPrefix(got.Line, "2,23 ") || got.Text != "0.0/s" {
		t.Errorf("a quarter of an hour later: %+v", got)
	}
}
