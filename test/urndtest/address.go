package urndtest

import (
	"net"
	"testing"
)

// FreeAddress returns a loopback address on which nothing listens, for unavailable servers, or for listeners
// whose address must be known in advance. Another process may take it.
func FreeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
