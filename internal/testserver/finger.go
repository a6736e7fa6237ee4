package testserver

import (
	"net/netip"
	"testing"
)

// StartFinger starts a finger server, which runs in.fingerd for each connection like inetd. It stops at the end
// of the test.
func StartFinger(t testing.TB) netip.AddrPort {
	t.Helper()
	Need(t, "finger") // in.fingerd runs that program
	return startInetd(t, Need(t, "in.fingerd"), func(netip.AddrPort) []string { return nil })
}
