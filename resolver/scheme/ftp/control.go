package ftp

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// control is a control connection: RFC 959 section 3. One request uses it at a time.
type control struct {
	key      key
	conn     net.Conn // the TLS connection, if TLS is used
	in       *bufio.Reader
	remote   netip.AddrPort
	timeout  time.Duration // of each reply
	features features
	tls      *tls.Config // of data connections; nil for no TLS
	noEPSV   bool        // the server rejected EPSV
	noFEAT   bool        // FEAT is not sent
	mode     byte        // argument of the last TYPE: 'A', 'I', or 0 for none yet
	home     string      // directory after the login; "" if unknown
	welcome  []string    // text of the server after the login
	broken   bool        // not reusable
}

// newControl returns the control connection over conn. It reads nothing.
func newControl(conn net.Conn, k key, limits scheme.Limits) (*control, error) {
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return nil, fmt.Errorf("server address: %w", err)
	}
	return &control{
		key: k, conn: conn, in: bufio.NewReaderSize(conn, limits.Line), remote: remote,
		timeout: limits.Timeout,
	}, nil
}

// Server implements scheme.PooledConn.
func (c *control) Server() string { return c.key.address }

// Close closes the connection.
func (c *control) Close() {
	c.broken = true
	_ = c.conn.Close() // no unsent data
}

// command sends a command with its argument and returns the reply. Cancellation of ctx closes the connection.
// The argument has no line end: see newTarget.
func (c *control) command(ctx context.Context, verb, argument string) (reply, error) {
	var r reply
	err := c.within(ctx, verb, func() (err error) {
		// RFC 959 section 5.3 would double byte 255, as Telnet does; but servers take it for two bytes.
		if _, err = io.WriteString(c.conn, verb+argument+"\r\n"); err == nil {
			r, err = c.receive()
		}
		return err
	})
	return r, err
}

// reply waits for a further reply, such as the one at the end of a transfer.
func (c *control) reply(ctx context.Context, to string) (r reply, err error) {
	err = c.within(ctx, to, func() (err error) { r, err = c.receive(); return err })
	return r, err
}

func (c *control) receive() (reply, error) {
	r, err := readReply(c.in, c.key.login.secret())
	if err == nil && r.code == 421 { // the server closes the connection: RFC 959 section 5.4
		c.broken = true
	}
	return r, err
}

// within runs do on the connection, which it closes after the reply timeout or when ctx ends.
func (c *control) within(ctx context.Context, verb string, do func() error) error {
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	stop := context.AfterFunc(bounded, func() { _ = c.conn.Close() })
	err := do()
	if !stop() {
		err = bounded.Err()
	}
	if err == nil {
		return nil
	}
	c.Close()
	return broke("the reply to "+strings.TrimSpace(verb), err)
}

// broke returns the error of a connection that failed while waiting for what.
func broke(what string, err error) error {
	var netErr net.Error
	switch {
	case errors.Is(err, scheme.ErrInvalidResponse):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &netErr) &&
		netErr.Timeout():
		return fmt.Errorf("waiting for %s: %w", what, err)
	default:
		return fmt.Errorf("waiting for %s: %w", what, resolver.Unreachable(err))
	}
}

// setType sets the representation type to text ('A') or bytes ('I'): RFC 959 section 3.1.1.
func (c *control) setType(ctx context.Context, mode byte) error {
	if c.mode == mode {
		return nil
	}
	r, err := c.command(ctx, "TYPE ", string(mode))
	if err != nil {
		return err
	}
	if !r.ok() {
		return refusal(r, "TYPE")
	}
	c.mode = mode
	return nil
}
