package http

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"
)

// conn is a connection of HTTP/1.1. One exchange uses it at a time.
type conn struct {
	net.Conn
	handler *Handler
	key     key
	from    netip.AddrPort
	in      *bufio.Reader
	scratch []byte // for heads
	used    bool   // an exchange has ended
	probe   probe  // of the socket
	talk    *talk  // nil where it is read and written as any other one
	unsent  []byte // a request that is sent where its response is read

	mu       sync.Mutex
	canceled bool
	answered bool // the head of the response has come
}

func (h *Handler) newConn(c net.Conn, k key, from netip.AddrPort) *conn {
	k.address = strings.Clone(k.address) // of a URI, which may be long
	made := &conn{Conn: c, handler: h, key: k, from: from, probe: newProbe(c), talk: newTalk(c)}
	made.in = bufio.NewReader(incoming{made})
	return made
}

func (c *conn) pooled() bool { return c.used }

// past is a deadline that is over.
func past() time.Time { return time.Unix(1, 0) }

// Ended implements lifetime.Watcher, for the context of an exchange.
func (c *conn) Ended() { c.cancel() }

// cancel ends all that waits for the connection, which cannot be used again.
func (c *conn) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.canceled = true
	_ = c.SetDeadline(past())
}

// awaitHead begins the time that the head of the response may take, unless it has come.
func (c *conn) awaitHead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.canceled && !c.answered {
		_ = c.SetReadDeadline(c.handler.config.Now().Add(c.handler.config.HeaderTimeout))
	}
}

// begin begins an exchange.
func (c *conn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = false
}

// endHead ends the time that the head of the response may take.
func (c *conn) endHead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = true
	if !c.canceled {
		_ = c.SetReadDeadline(time.Time{})
	}
}

// Alive implements scheme.IdleConn. It reports whether an idle connection can be used: the origin has
// neither closed it, nor sent anything that nobody asked for.
func (c *conn) Alive() bool {
	if c.in.Buffered() > 0 || !c.probe.isSilent() {
		return false
	}
	if _, secured := c.Conn.(*tls.Conn); !secured {
		return true
	}
	if err := c.SetReadDeadline(past()); err != nil {
		return false
	}
	// What TLS has read but not decrypted is returned in spite of the deadline.
	if _, err := c.in.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	return c.SetReadDeadline(time.Time{}) == nil
}

// below returns the connection that a wrapper, such as TLS, is around; nil for none.
func below(c net.Conn) net.Conn {
	if wrapper, ok := c.(interface{ NetConn() net.Conn }); ok {
		return wrapper.NetConn()
	}
	return nil
}

// closeWrite ends what is sent on a connection, if it can be ended alone.
func closeWrite(c net.Conn) error {
	for ; c != nil; c = below(c) {
		if half, ok := c.(interface{ CloseWrite() error }); ok {
			return half.CloseWrite()
		}
	}
	return errors.ErrUnsupported
}
