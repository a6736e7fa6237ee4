//go:build !race

package metrics_test

import (
	"testing"
	"time"

	"github.com/urnd/urnd/internal/metrics"
)

func TestRequestsAreCountedWithoutAllocation(t *testing.T) {
	m := metrics.New("1")
	if n := testing.AllocsPerRun(1000, func() {
		m.Request("path", "I2L", 302, 8*time.Microsecond)
		m.FastPath("method")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
