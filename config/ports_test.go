package config_test

import (
	"testing"

	"github.com/urnd/urnd/config"
)

// TestInRanges: ranges are inclusive; no ranges contain no port.
func TestInRanges(t *testing.T) {
	in := config.InRanges([]config.PortRange{{First: 443, Last: 443}, {First: 8000, Last: 8999}})
	for port, want := range map[uint16]bool{
		442: false, 443: true, 444: false, 7999: false, 8000: true, 8999: true,
		9000: false,
	} {
		if in(port) != want {
			t.Errorf("%d: %t", port, !want)
		}
	}
	if config.InRanges(nil)(443) {
		t.Error("no range has a port")
	}
}
