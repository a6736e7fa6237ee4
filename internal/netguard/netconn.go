package netguard

import "net"

// NetConn returns the connection below, as that of tls.Conn does: what a wrapper does not have,
// such as half-close, is found there.
func (c *idleConn) NetConn() net.Conn { return c.Conn }

// NetConn returns the connection below.
func (b bounded) NetConn() net.Conn { return b.Conn }

// NetConn returns the connection below.
func (c namedConn) NetConn() net.Conn { return c.Conn }
