package netguard

import "net"

// ReadsFrom returns the connection whose octets Read passes on, so that a tunnel may read it past this one.
func (b bounded) ReadsFrom() net.Conn { return b.Conn }

// WritesTo returns the connection to which Write passes octets on.
func (b bounded) WritesTo() net.Conn { return b.Conn }

// ReadsFrom returns the connection whose octets Read passes on.
func (c namedConn) ReadsFrom() net.Conn { return c.Conn }

// WritesTo returns the connection to which Write passes octets on.
func (c namedConn) WritesTo() net.Conn { return c.Conn }
