package metrics_test

import (
	"testing"
	"time"

	"github.com/urnd/urnd/internal/metrics"
)

func TestForms(t *testing.T) {
	m := metrics.New("1")
	if got := m.Forms(); len(got) != 0 {
		t.Errorf("%+v before any request", got)
	}
	for range 3 {
		m.Request("path", "I2L", 302, 30*time.Microsecond)
	}
	m.Request("path", "I2C", 404, time.Hour)
	m.Request("forward", "I2L", 0, time.Second)
	m.Request("forward", "I2L", 1<<40, time.Second)
	got := m.Forms()
	if len(got) != 2 || got[0].Name != "forward" || got[1].Name != "path" {
		t.Fatalf("%+v", got)
	}
	if want := [metrics.Classes]uint64{0: 1, 5: 1}; got[0].Classes != want {
		t.Errorf("%v, want %v", got[0].Classes, want)
	}
	if want := [metrics.Classes]uint64{3: 3, 4: 1}; got[1].Classes != want {
		t.Errorf("%v, want %v", got[1].Classes, want)
	}
	// two of three in the bucket from 25 to 50 µs
	if d, beyond, ok := got[1].Duration.Quantile(.5); !ok || beyond || d < 41*time.Microsecond ||
		d > 42*time.Microsecond {
		t.Errorf("the median is %v, %v, %v", d, beyond, ok)
	}
	if d, beyond, ok := got[1].Duration.Quantile(.95); !ok || !beyond || d != 10*time.Second {
		t.Errorf("95 percent are below %v, %v, %v", d, beyond, ok)
	}
}

func TestQuantileEmpty(t *testing.T) {
	if d, beyond, ok := (metrics.Histogram{}).Quantile(.5); ok || beyond || d != 0 {
		t.Errorf("%v, %v, %v", d, beyond, ok)
	}
}

func TestSystems(t *testing.T) {
	m := metrics.New("1")
	if got := m.Systems(); len(got) != 0 {
		t.Errorf("%+v before any question", got)
	}
	m.Query("192.0.2.1:53", "NAPTR", "NOERROR", 2*time.Millisecond)
	m.Query("192.0.2.1:53", "NAPTR", "NXDOMAIN", 2*time.Millisecond)
	m.Query("192.0.2.1:53", "SRV", "timeout", 20*time.Second)
	m.Exchange("thttp", "failed", time.Millisecond)
	m.Exchange("thttp", "not_found", time.Millisecond)
	got := m.Systems()
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []struct {
		kind, name       string
		count, failures  uint64
		beyond           bool
		shortest, median time.Duration
	}{
		{metrics.SystemDNS, "192.0.2.1:53", 3, 1, true, time.Millisecond, 2500 * time.Microsecond},
		{metrics.SystemGateway, "thttp", 2, 1, false, 0, time.Millisecond},
	} {
		s := got[i]
		if s.Kind != want.kind || s.Name != want.name || s.Duration.Count() != want.count ||
			s.Failures() != want.failures {
			t.Errorf("%+v, want %+v", s, want)
		}
		if d, _, ok := s.Duration.Quantile(.5); !ok || d < want.shortest || d > want.median {
			t.Errorf("%s: the median is %v, %v", s.Name, d, ok)
		}
		if _, beyond, _ := s.Duration.Quantile(.95); beyond != want.beyond {
			t.Errorf("%s: beyond all bounds: %v", s.Name, beyond)
		}
	}
}

// TestHistogramSince checks the difference of two states, and that after a reset all durations are returned.
func TestHistogramSince(t *testing.T) {
	m := metrics.New("1")
	duration := func() metrics.Histogram { return m.Forms()[0].Duration }
	m.Request("path", "I2L", 200, time.Second)
	before := duration()
	m.Request("path", "I2L", 200, 30*time.Microsecond)
	m.Request("path", "I2L", 200, 30*time.Microsecond)
	after := duration()
	if got := after.Since(before); got.Count() != 2 {
		t.Errorf("%+v", got)
	} else if d, _, _ := got.Quantile(1); d != 50*time.Microsecond {
		t.Errorf("all are within %v", d)
	}
	if got := before.Since(after); got.Count() != 1 || before.Count() != 1 {
		t.Errorf("counted anew: %+v", got)
	}
	if got := before.Plus(after); got.Count() != 4 || after.Count() != 3 {
		t.Errorf("both: %+v", got)
	}
	for _, got := range []metrics.Histogram{
		metrics.Histogram{}.Plus(after), after.Plus(metrics.Histogram{}),
		after.Since(metrics.Histogram{}),
	} {
		if got.Count() != 3 {
			t.Errorf("%+v", got)
		}
	}
	if got := (metrics.Histogram{}).Plus(metrics.Histogram{}); got.Count() != 0 {
		t.Errorf("%+v", got)
	}
}
