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

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// client is one connection to a news server, for one request. It is not safe for concurrent use.
type client struct {
	config       *Config
	conn         net.Conn
	reader       *bufio.Reader
	forget       func() bool  // that the end of the context closes the connection
	ended        func() error // why the context has ended; nil if it has not
	from         netip.AddrPort
	capabilities capabilities
}

// maxCommand bounds a command, without its line end: RFC 3977 section 3.1.
const maxCommand = 512 - len("\r\n")

var errEnded = errors.New("the server closes the connection in the middle")

// connect returns a connection that is ready for commands of readers. The end of ctx closes it.
func (h *Handler) connect(ctx context.Context, check func(netip.AddrPort) error, s server) (*client, error) {
	conn, err := h.config.Dial(ctx, "tcp", s.Address, check)
	if err != nil {
		return nil, fmt.Errorf("connecting to news server %s: %w", s.Address, err)
	}
	c := &client{config: &h.config, ended: ctx.Err}
	c.forget = context.AfterFunc(ctx, func() { _ = conn.Close() })
	if address, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		c.from = address.AddrPort()
	}
	c.use(conn)
	if err := c.open(s); err != nil {
		c.close()
		return nil, fmt.Errorf("news server %s: %w", s.Address, err)
	}
	return c, nil
}

// open begins the session: RFC 3977 sections 5.1 to 5.3.
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
	if greeting.code != codeMayPost && greeting.code != codeNoPosting {
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

// beReader sends MODE READER to servers that transfer news besides, and to those that tell no
// capabilities: RFC 3977 section 5.3.
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
		return r.refusal(s)
	}
	if c.capabilities == nil { // a server of RFC 977
		return nil
	}
	return c.discover()
}

// use makes conn the one to read from.
func (c *client) use(conn net.Conn) {
	c.conn, c.reader = conn, bufio.NewReader(conn)
}

// handshake begins TLS, in which the certificate must be valid for the host.
func (c *client) handshake(s server) error {
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil {
		return fmt.Errorf("the address of a server: %w", err)
	}
	if err := c.wait(); err != nil {
		return err
	}
	conn := tls.Client(c.conn, &tls.Config{ServerName: host, RootCAs: c.config.RootCAs, MinVersion: tls.VersionTLS12})
	if err := conn.Handshake(); err != nil { //nolint:noctx // the end of the context closes the connection
		return broken("beginning TLS", err)
	}
	c.use(conn)
	return nil
}

// secure begins TLS by STARTTLS, where it is offered and not there: RFC 4642 section 2.2. A server that offers and
// refuses it gets no password, which anybody on the way may have wanted to see.
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
	if c.reader.Buffered() > 0 { // anybody on the way may have written it
		return fmt.Errorf("%w: there are octets between STARTTLS and TLS", scheme.ErrResponse)
	}
	if err := c.handshake(s); err != nil {
		return err
	}
	return c.discover() // what was known came without TLS: section 2.2.2
}

// command sends a command and returns the first line of the response.
func (c *client) command(line string) (reply, error) {
	if strings.ContainsAny(line, "\r\n\x00") || len(line) > maxCommand {
		return reply{}, scheme.Refuse(http.StatusBadRequest, "the command for it would be longer than RFC 3977 section 3.1 allows, or have a line end")
	}
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
	var line []byte
	for {
		piece, err := c.reader.ReadSlice('\n')
		if line = append(line, piece...); len(line) > c.config.Limits.Line {
			return reply{}, fmt.Errorf("%w: a reply of more than %d octets", scheme.ErrResponse, c.config.Limits.Line)
		}
		if err == nil {
			return parseReply(strings.TrimRight(string(line), "\r\n"))
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return reply{}, broken("reading a reply", err)
		}
	}
}

// wait begins the time that the server has for its next octets.
func (c *client) wait() error {
	if err := c.conn.SetDeadline(c.config.Now().Add(c.config.Limits.Timeout)); err != nil {
		return broken("using the connection", err)
	}
	return nil
}

// close ends the connection at once.
func (c *client) close() {
	c.forget()
	_ = c.conn.Close() // nothing is left to send
}

// quit ends the session. It does not wait for the reply, nor for who does not read.
func (c *client) quit() {
	_ = c.wait()
	_, _ = io.WriteString(c.conn, "QUIT\r\n") // the connection ends in any case
	c.close()
}

// broken returns the error of a connection, by which a server that is too slow differs from one that
// cannot be reached.
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
