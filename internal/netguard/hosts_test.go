package netguard_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/urnd/urnd/internal/netguard"
)

// TestSystemHosts reads the hosts file of this machine and queries no server.
func TestSystemHosts(t *testing.T) {
	if got := netguard.SystemHosts(t.Context(), "localhost"); !slices.Contains(got, netip.MustParseAddr("127.0.0.1")) {
		t.Errorf("localhost: %v", got)
	}
	if got := netguard.SystemHosts(t.Context(), "no-such-host.invalid"); got != nil {
		t.Errorf("no-such-host.invalid: %v", got)
	}
}
