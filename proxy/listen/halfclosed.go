package listen

import (
	"errors"
	"io"
	"net"
)

// A client may end its side of a connection behind its last request: what it asked for is sent in full, by both paths. To
// net/http that is the end of the client, and of the requests that it has made. So the end is not passed on while one of
// them is answered: net/http sees it when it waits for the next one. A client that has left is noticed by the reset that
// its machine sends for a response, or for a keep-alive probe of TCP.

// isWatch reports whether a read into p is the one by which net/http notices that a client has left, while a request is
// answered. No other one by HTTP/1 is into a single octet, but into the last of its buffer.
func (c *requestConn) isWatch(p []byte) bool {
	return cap(p) == 1 && !c.isTaken && c.http2.Load() == nil && &p[0] != c.lastOctet
}

// watch returns where the client has left, or net/http ends the read. An octet that comes is read with those that follow it, so
// that it is seen whether a request begins with it.
func (c *requestConn) watch(p []byte) (int, error) {
	if !c.hasWatched {
		n, err := c.Conn.Read(p)
		if n == 0 && isEnd(err) {
			c.ended.note()
			err = awaitReset(socketOf(c.Conn))
		}
		if n == 0 {
			return 0, err
		}
		c.watched, c.hasWatched = p[0], true
	}
	return 0, c.body.awaitAbort()
}

// isEnd reports whether the client has ended its side: by TLS, with close_notify or without.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// socketOf returns what is below TLS, the PROXY protocol and the limits.
func socketOf(conn net.Conn) net.Conn {
	switch c := conn.(type) {
	case *secureConn:
		return socketOf(c.raw)
	case proxyConn:
		return socketOf(c.below)
	case *clientConn:
		return c.Conn
	default:
		return conn
	}
}
