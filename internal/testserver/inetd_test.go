package testserver

import (
	"bufio"
	"net"
	"testing"
)

// TestInetdEnds checks that neither a client with an open connection nor its program outlives the test.
func TestInetdEnds(t *testing.T) {
	for name, start := range map[string]func(testing.TB) string{
		"finger":      func(t testing.TB) string { return StartFinger(t).String() },
		"gophernicus": func(t testing.TB) string { return StartGophernicus(t, OpenFolder(t)).Addr() },
	} {
		t.Run(name, func(t *testing.T) {
			var forgotten net.Conn
			Within(t, "the test of a client that says nothing", func() {
				t.Run("silent", func(t *testing.T) {
					addr := start(t)
					forgotten = dialed(t, addr)
					other := dialed(t, addr) // the previous connection was accepted
					defer other.Close()
					if _, err := other.Write([]byte("\r\n")); err != nil {
						t.Fatal(err)
					}
					if _, err := bufio.NewReader(other).ReadByte(); err != nil {
						t.Errorf("no answer: %v", err)
					}
				})
			})
			if forgotten != nil {
				_ = forgotten.Close()
			}
		})
	}
}

func dialed(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
