package proxy

import (
	"testing"
	"time"
)

// The time of each wake-up is measured where they are rare; of many in a row, one in sixteen.
func TestTook(t *testing.T) {
	for _, tt := range []struct {
		apart, takes time.Duration
		measured     int
	}{
		{10 * time.Millisecond, 5 * time.Microsecond, 32},
		{10 * time.Microsecond, 5 * time.Microsecond, 2},
		{10 * time.Microsecond, 200 * time.Microsecond, 32},
	} {
		w, measured := new(fastWork), 0
		for i := range 32 {
			w.now = time.Unix(1_800_000_000, 0).Add(time.Duration(i) * tt.apart)
			took := w.took(func() time.Time {
				measured++
				return w.now.Add(tt.takes)
			})
			if took != tt.takes {
				t.Errorf("%d. %s apart: %s", i, tt.apart, took)
			}
		}
		if measured != tt.measured {
			t.Errorf("%s apart, each of %s: %d were measured, want %d", tt.apart, tt.takes, measured, tt.measured)
		}
	}
}
