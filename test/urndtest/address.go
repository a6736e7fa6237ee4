package urndtest

import (
	"net"
	"testing"
)

// FreeAddress returns an address of loopback at which nothing listens: for what must be down, or for listeners whose
// address has to be known before. Another process may take it.
func FreeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
