package testserver

import (
	"net/netip"
	"testing"
)

// StartFinger starts a server of finger, which runs in.fingerd for each connection as inetd does. It stops at the
// end of the test.
func StartFinger(t testing.TB) netip.AddrPort {
	t.Helper()
	Need(t, "finger") // it asks that program
	return startInetd(t, Need(t, "in.fingerd"), func(netip.AddrPort) []string { return nil })
}
