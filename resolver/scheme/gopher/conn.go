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

// conn is a connection to a server, which carries one request and its response.
type conn struct {
	net.Conn
	ctx       context.Context //nolint:containedctx // context of the request
	in        *bufio.Reader
	cut       func() // unblocks all reads and writes; the connection is unusable then
	timer     *time.Timer
	timeout   time.Duration // duration of timer
	streaming bool          // the timeout applies to each read, not to the whole response
	forget    func() bool
}

// send connects to the server of a request and sends it. One timeout covers everything until stream is called.
// The caller must end the connection.
func (h *Handler) send(ctx context.Context, r scheme.Request, q request) (*conn, error) {
	raw, err := h.config.Dial(ctx, "tcp", net.JoinHostPort(trimBrackets(q.host), q.port), r.Check)
	if err != nil {
		return nil, err
	}
	c := &conn{
		Conn: raw, ctx: ctx, timeout: h.config.Limits.Timeout,
		cut: func() { _ = raw.SetDeadline(time.Unix(1, 0)) },
	}
	c.timer = time.AfterFunc(c.timeout, c.cut)
	c.forget = context.AfterFunc(ctx, c.cut)
	c.in = bufio.NewReader(c)
	if _, err := io.WriteString(raw, q.line()); err != nil {
		c.end()
		return nil, c.wrapError("sending the request", err)
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

// stream ends the timeout of the response; from now on it applies to each read.
func (c *conn) stream() {
	c.timer.Stop()
	c.streaming = true
}

// moreWithin reports whether the server sends more bytes within timeout. If not, the connection is unusable.
func (c *conn) moreWithin(timeout time.Duration) (bool, error) {
	timer := time.AfterFunc(timeout, c.cut)
	defer timer.Stop()
	_, err := c.in.Peek(1)
	return err == nil, context.Cause(c.ctx)
}

// wrapError wraps an error of the connection.
func (c *conn) wrapError(doing string, err error) error {
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

// from returns the address of the server, the zero value if it is unknown.
func (c *conn) from() netip.AddrPort {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort()
	}
	return netip.AddrPort{}
}

// end closes the connection. It may be called repeatedly, and during a Read.
func (c *conn) end() {
	c.forget()
	c.timer.Stop()
	_ = c.Close() // no unsent data
}
