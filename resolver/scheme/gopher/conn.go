package gopher

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// conn is a connection to a server, for one request, and its answer.
type conn struct {
	net.Conn
	ctx       context.Context //nolint:containedctx // of the request, which the connection is of
	in        *bufio.Reader
	cut       func() // ends all that waits for the server; the connection cannot be used again
	timer     *time.Timer
	timeout   time.Duration // of the timer
	streaming bool          // the timer is of each read, and no longer of the answer
	forget    func() bool
}

// ask connects to the server of a request, and sends it. All that comes until stream is called must come within the
// time for an answer. The caller must end the connection.
func (h *Handler) ask(ctx context.Context, r scheme.Request, q request) (*conn, error) {
	raw, err := h.config.Dial(ctx, "tcp", net.JoinHostPort(trimBrackets(q.host), q.port), r.Check)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, ctx: ctx, timeout: h.config.Limits.Timeout, cut: func() { _ = raw.SetDeadline(time.Unix(1, 0)) }}
	c.timer = time.AfterFunc(c.timeout, c.cut)
	c.forget = context.AfterFunc(ctx, c.cut)
	c.in = bufio.NewReader(c)
	if _, err := io.WriteString(raw, q.line()); err != nil {
		c.end()
		return nil, c.fault("asking the server", err)
	}
	return c, nil
}

// Read implements io.Reader.
func (c *conn) Read(p []byte) (int, error) {
	if c.streaming {
		c.timer.Reset(c.timeout)
		defer c.timer.Stop()
	}
	return c.Conn.Read(p)
}

// stream ends the time for the answer: from now on, each read has as much.
func (c *conn) stream() {
	c.timer.Stop()
	c.streaming = true
}

// moreWithin reports whether the server sends more within a time. If it does not, the connection must not be
// used again.
func (c *conn) moreWithin(timeout time.Duration) (bool, error) {
	timer := time.AfterFunc(timeout, c.cut)
	defer timer.Stop()
	_, err := c.in.Peek(1)
	return err == nil, context.Cause(c.ctx)
}

// fault returns the error for one of the connection.
func (c *conn) fault(doing string, err error) error {
	var late net.Error
	switch {
	case c.ctx.Err() != nil:
		return fmt.Errorf("%s: %w", doing, context.Cause(c.ctx))
	case errors.As(err, &late) && late.Timeout():
		return fmt.Errorf("%s: %w", doing, context.DeadlineExceeded)
	default:
		return fmt.Errorf("%s: %w", doing, resolver.Unreachable(err))
	}
}

// from returns the address of the server.
func (c *conn) from() netip.AddrPort {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort()
	}
	return netip.AddrPort{}
}

// end closes the connection. It may be called more than once, and while the connection is read.
func (c *conn) end() {
	c.forget()
	c.timer.Stop()
	_ = c.Close() // all that was needed has been read
}
