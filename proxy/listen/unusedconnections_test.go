package listen

import (
	"net"
	"net/http"
	"testing"
)

// A connection that ends is unused where none of its requests has come to the handler.
func TestUnusedConnections(t *testing.T) {
	unused := 0
	c := newConnections(t.Context(), func() { unused++ })
	with, without := new(net.TCPConn), new(net.TCPConn)
	c.state(with, http.StateNew)
	c.state(without, http.StateNew)
	c.begin(with, true)
	c.end()
	if c.state(with, http.StateClosed); unused != 0 {
		t.Error("a connection with a request is counted")
	}
	if c.state(without, http.StateClosed); unused != 1 {
		t.Error("a connection without a request is not counted")
	}
}
