package listen

import "net"

// A tunnel between two sockets moves octets past the wrappers of a client's connection that only pass them on. There is no way
// past TLS, nor by reading past the PROXY protocol, which may have read more than its header.

// ReadsFrom returns the connection whose octets Read passes on, nil while it has others, or looks at them for net/http. Only
// who may call Read may call it.
func (c *requestConn) ReadsFrom() net.Conn {
	if !c.isTaken || c.hasWatched || c.handed != nil {
		return nil
	}
	return c.Conn
}

// WritesTo returns the connection to which Write passes octets on, nil where it may change them. Only who may call Write
// may call it.
func (c *requestConn) WritesTo() net.Conn {
	if !c.isTaken || !c.handled.Load() || c.reason.status != "" || c.endsEarly.Load() {
		return nil
	}
	return c.Conn
}

// WritesTo returns the connection to which Write passes octets on.
func (c proxyConn) WritesTo() net.Conn { return c.below }

// ReadsFrom returns the connection whose octets Read passes on.
func (c *clientConn) ReadsFrom() net.Conn { return c.Conn }

// WritesTo returns the connection to which Write passes octets on: what is written to it is bounded by WriteBy.
func (c *clientConn) WritesTo() net.Conn { return c.Conn }
