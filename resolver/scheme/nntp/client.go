package nntp

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// client is a connection to a news server, used by one request at a time. It is not safe for concurrent use.
type client struct {
	config       *Config
	server       server // with its login
	conn         net.Conn
	reader       *bufio.Reader
	block        *block       // of the last multi-line response; nil for none
	streams      bool         // the timeout applies to each read, not to the whole response
	forget       func() bool  // stops the AfterFunc that closes the connection when ctx ends
	ended        func() error // the error of ctx; nil if it has not ended
	from         netip.AddrPort
	capabilities capabilities
	closing      bool // the server accepts no more commands: RFC 3977 section 3.2.1
}

// maxCommand is the maximum length of a command in bytes, without its line end: RFC 3977 section 3.1.
const maxCommand = 512 - len("\r\n")

var errEnded = errors.New("connection closed in the middle of a response")

// connect returns a connection that is ready for reader commands. If the server rejects it because it has too
// many, the idle ones to it are closed, since it may count them. Connecting is then retried with backoff,
// because the server may notice late.
func (h *Handler) connect(ctx context.Context, check func(netip.AddrPort) error, s server) (*client, error) {
	const first, longest = 20 * time.Millisecond, 500 * time.Millisecond
	hasEnded := false
	for pause := first; ; pause *= 2 {
		c, isFull, err := h.dial(ctx, check, s)
		if isFull {
			hasEnded = h.dropServer(s) > 0 || hasEnded
		}
		if !isFull || !hasEnded || pause > longest {
			return c, err
		}
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil, err // the reply of the server
		}
	}
}

// dial opens a connection, which is closed when ctx ends. isFull is true if the server rejects the connection.
func (h *Handler) dial(
	ctx context.Context, check func(netip.AddrPort) error, s server,
) (c *client, isFull bool, err error) {
	conn, err := h.config.Dial(ctx, "tcp", s.Address, check)
	if err != nil {
		return nil, false, fmt.Errorf("connecting to news server %s: %w", s.Address, err)
	}
	c = &client{config: &h.config, server: s}
	if address, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		c.from = address.AddrPort()
	}
	c.use(conn)
	c.begin(ctx)
	if err := c.open(s); err != nil {
		c.close()
		return nil, c.closing, fmt.Errorf("news server %s: %w", s.Address, err)
	}
	return c, false, nil
}

// begin closes the connection when ctx ends, until forget is called.
func (c *client) begin(ctx context.Context) {
	conn := c.conn
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn() // Close of the TLS connection would wait for a Write
	}
	c.ended = ctx.Err
	c.forget = context.AfterFunc(ctx, func() { _ = conn.Close() })
}

// open starts the session: RFC 3977 sections 5.1 to 5.3.
func (c *client) open(s server) error {
	if s.TLS {
		if err := c.handshake(s); err != nil {
			return err
		}
	}
	greeting, err := c.reply()
	if err != nil {
		return err
	}
	c.closing = greeting.code != codeMayPost && greeting.code != codeNoPosting
	if greeting.code == codeFeature { // some servers mean the 503 of HTTP; RFC 3977 section 5.1 has 400 and 502
		return scheme.UpstreamError(http.StatusServiceUnavailable, greeting.String())
	}
	if c.closing {
		return greeting.refusal(s)
	}
	if err := c.discover(); err != nil {
		return err
	}
	if err := c.beReader(s); err != nil {
		return err
	}
	return c.logIn(s)
}

// beReader sends MODE READER to a mode-switching server, and to one without CAPABILITIES: RFC 3977 section 5.3.
func (c *client) beReader(s server) error {
	if c.capabilities.has("READER") || c.capabilities != nil && !c.capabilities.has("MODE-READER") {
		return nil
	}
	r, err := c.command("MODE READER")
	if err != nil {
		return err
	}
	switch r.code {
	case codeUnavailable, codeDenied:
		c.closing = true
		return r.refusal(s)
	}
	if c.capabilities == nil { // an RFC 977 server
		return nil
	}
	return c.discover()
}

// use reads from conn from now on.
func (c *client) use(conn net.Conn) {
	c.conn, c.reader = conn, bufio.NewReader(incoming{c})
}

// incoming reads from the connection of a client, with a timeout for each read of a streamed body.
type incoming struct{ *client }

// Read implements io.Reader.
func (i incoming) Read(p []byte) (int, error) {
	if i.streams {
		if err := i.conn.SetReadDeadline(i.config.Now().Add(i.config.Limits.Timeout)); err != nil {
			return 0, err
		}
	}
	return i.conn.Read(p)
}

// handshake does the TLS handshake; the certificate must be valid for the host.
func (c *client) handshake(s server) error {
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil {
		return fmt.Errorf("server address: %w", err)
	}
	if err := c.wait(); err != nil {
		return err
	}
	conn := tls.Client(c.conn, &tls.Config{ServerName: host, RootCAs: c.config.RootCAs, MinVersion: tls.VersionTLS12})
	if err := conn.Handshake(); err != nil { //nolint:noctx // the end of the context closes the connection
		return broken("TLS handshake", err)
	}
	c.use(conn)
	return nil
}

// secure starts TLS by STARTTLS if it is offered and TLS is not active: RFC 4642 section 2.2. A server that
// offers and rejects it gets no password: an attacker on the path may have caused that.
func (c *client) secure(s server) error {
	if _, ok := c.conn.(*tls.Conn); ok || !c.capabilities.has("STARTTLS") {
		return nil
	}
	r, err := c.command("STARTTLS")
	if err != nil {
		return err
	}
	if r.code != codeStartTLS {
		return r.refusal(s)
	}
	if c.reader.Buffered() > 0 { // may be injected by an attacker on the path
		return fmt.Errorf("%w: unexpected data between STARTTLS and TLS", scheme.ErrInvalidResponse)
	}
	if err := c.handshake(s); err != nil {
		return err
	}
	return c.discover() // capabilities from before TLS are not trusted: RFC 4642 section 2.2.2
}

// command sends a command and returns the first line of the response.
func (c *client) command(line string) (reply, error) {
	if strings.ContainsAny(line, "\r\n\x00") || len(line) > maxCommand {
		return reply{}, scheme.PolicyDenial(http.StatusBadRequest, "nntp_command_long",
			"command exceeds the limit of RFC 3977 section 3.1, or contains a line end")
	}
	c.streams = false
	if err := c.wait(); err != nil {
		return reply{}, err
	}
	if _, err := io.WriteString(c.conn, line+"\r\n"); err != nil {
		return reply{}, broken("sending a command", err)
	}
	return c.reply()
}

// reply reads the first line of a response.
func (c *client) reply() (reply, error) {
	if err := c.wait(); err != nil {
		return reply{}, err
	}
	most := c.config.Limits.Line
	in := scheme.LineReader{In: c.reader, Line: most, Bytes: int64(most)}
	line, err := in.Next()
	switch {
	case errors.Is(err, scheme.ErrLongLine), errors.Is(err, scheme.ErrTooManyBytes):
		return reply{}, fmt.Errorf("%w: reply exceeds %d bytes", scheme.ErrInvalidResponse, most)
	case err != nil:
		return reply{}, broken("reading a reply", err)
	}
	r, err := parseReply(line)
	c.closing = c.closing || r.code == codeUnavailable
	return r, err
}

// wait starts the timeout for the server.
func (c *client) wait() error {
	if err := c.conn.SetDeadline(c.config.Now().Add(c.config.Limits.Timeout)); err != nil {
		return broken("using the connection", err)
	}
	return nil
}

// close closes the connection immediately.
func (c *client) close() {
	c.forget()
	_ = c.conn.Close() // no unsent data
}

// broken wraps the error of a connection, so that a timeout differs from an unreachable server.
func broken(doing string, err error) error {
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s: %w", doing, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errEnded
	}
	return fmt.Errorf("%s: %w", doing, resolver.Unreachable(err))
}
