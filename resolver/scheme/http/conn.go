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

// conn is an HTTP/1.1 connection. One exchange uses it at a time.
type conn struct {
	net.Conn
	handler *Handler
	key     key
	from    netip.AddrPort
	in      *bufio.Reader
	scratch []byte        // buffer for request and response heads
	used    bool          // an exchange has completed
	probe   probe         // of the socket
	raw     *rawExchanger // nil if the socket cannot be used directly
	unsent  []byte        // a request head to be sent by the first read of the response

	mu       sync.Mutex
	canceled bool
	answered bool // the head of the response has arrived
}

func (h *Handler) newConn(c net.Conn, k key, from netip.AddrPort) *conn {
	k.address = strings.Clone(k.address) // the address is part of a URI, which may be long
	made := &conn{Conn: c, handler: h, key: k, from: from, probe: newProbe(c), raw: newRawExchanger(c)}
	made.in = bufio.NewReader(incoming{made})
	return made
}

func (c *conn) pooled() bool { return c.used }

// pastDeadline returns a deadline that has passed.
func pastDeadline() time.Time { return time.Unix(1, 0) }

// Ended implements lifetime.Watcher: it is called when the context of the exchange ends.
func (c *conn) Ended() { c.cancel() }

// cancel unblocks all reads and writes of the connection, which is not reusable then.
func (c *conn) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.canceled = true
	_ = c.SetDeadline(pastDeadline())
}

// awaitHead starts the timeout for the head of the response, unless it has arrived already.
func (c *conn) awaitHead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.canceled && !c.answered {
		_ = c.SetReadDeadline(c.handler.config.Now().Add(c.handler.config.HeaderTimeout))
	}
}

// begin resets the state for a new exchange.
func (c *conn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = false
}

// endHead stops the timeout for the head of the response.
func (c *conn) endHead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = true
	if !c.canceled {
		_ = c.SetReadDeadline(time.Time{})
	}
}

// Alive implements scheme.IdleConn. It reports whether an idle connection is usable: the origin has neither
// closed it nor sent unsolicited bytes.
func (c *conn) Alive() bool {
	if c.in.Buffered() > 0 || !c.probe.isSilent() {
		return false
	}
	if _, secured := c.Conn.(*tls.Conn); !secured {
		return true
	}
	if err := c.SetReadDeadline(pastDeadline()); err != nil {
		return false
	}
	// Records that TLS has read but not decrypted are returned despite the deadline.
	if _, err := c.in.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	return c.SetReadDeadline(time.Time{}) == nil
}

// wrappedConn returns the connection that c wraps, such as by TLS; nil if none.
func wrappedConn(c net.Conn) net.Conn {
	if wrapper, ok := c.(interface{ NetConn() net.Conn }); ok {
		return wrapper.NetConn()
	}
	return nil
}

// closeWrite closes the sending side of a connection, if it supports that.
func closeWrite(c net.Conn) error {
	for ; c != nil; c = wrappedConn(c) {
		if half, ok := c.(interface{ CloseWrite() error }); ok {
			return half.CloseWrite()
		}
	}
	return errors.ErrUnsupported
}
