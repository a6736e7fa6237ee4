package http

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Upstream is a proxy through which resources are fetched. It is comparable. The addresses of
// origins behind it are not known, so that it must restrict them.
type Upstream struct {
	Scheme         string // "http", "https" or "socks5"
	Address        string // host and port
	User, Password string // no credentials where both are empty
	// TLS is how an https proxy is authenticated, and the client to it; nil for that of the Handler.
	TLS *tls.Config
}

var (
	errUpstream = errors.New("an upstream proxy is http, https or socks5")
	errNoWay    = fmt.Errorf("%w: there is none", scheme.ErrUpstream)
)

// isHTTP reports whether the proxy is one of HTTP.
func (u Upstream) isHTTP() bool { return u.Scheme == "http" || u.Scheme == "https" }

// appendCredentials appends Proxy-Authorization, if there are credentials: RFC 7617 section 2.
func (u Upstream) appendCredentials(b []byte) []byte {
	if u.User == "" && u.Password == "" {
		return b
	}
	return http1.AppendField(b, "Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User+":"+u.Password)))
}

// answered returns the error of an upstream proxy that refuses.
func answered(h http1.ResponseHead) error {
	return fmt.Errorf("%w: it answered %d %s", scheme.ErrUpstream, h.Status, h.Reason)
}

// checkBehind checks the address of an origin behind an upstream proxy; check may be nil. That of a name
// is not known, as the upstream proxy looks it up: check gets the zero value.
func (h *Handler) checkBehind(address string, check func(netip.AddrPort) error) error {
	if h.config.Behind != nil {
		if err := h.config.Behind(address); err != nil {
			return fmt.Errorf("asking the upstream proxy for %s: %w", address, err)
		}
	}
	if check == nil {
		return nil
	}
	server, err := netip.ParseAddrPort(address)
	if err != nil {
		return check(netip.AddrPort{})
	}
	return check(netip.AddrPortFrom(server.Addr().Unmap(), server.Port()))
}

// dialUpstream connects to a proxy.
func (h *Handler) dialUpstream(ctx context.Context, u Upstream) (net.Conn, error) {
	dial := h.config.DialUpstream
	if dial == nil {
		dial = h.config.Dial
	}
	c, err := dial(ctx, "tcp", u.Address)
	if err != nil {
		return nil, ofDial(fmt.Errorf("%w: connecting to it: %w", scheme.ErrUpstream, err))
	}
	if u.Scheme != "https" {
		return c, nil
	}
	host, _, err := net.SplitHostPort(u.Address)
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("%w: connecting to it: %w", scheme.ErrUpstream, err)
	}
	secured, err := h.handshake(ctx, c, host, u.TLS, "http/1.1")
	if err != nil {
		return nil, unreached{fmt.Errorf("%w: connecting to it: %w", scheme.ErrUpstream, err)}
	}
	return secured, nil
}

// Probe reports why an upstream proxy cannot be used: it cannot be connected to, or is one of HTTP that says nothing before the context
// ends. What it says is of no account; it is asked for what it can answer by itself (RFC 9110 sections 7.6.2 and 9.3.7).
func (h *Handler) Probe(ctx context.Context, u Upstream) error {
	c, err := h.dialUpstream(ctx, u)
	if err != nil {
		return err
	}
	defer c.Close()
	if !u.isHTTP() {
		return nil
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(past()) })
	defer stop()
	b := http1.AppendField([]byte("OPTIONS * HTTP/1.1\r\n"), "Host", u.Address)
	b = http1.AppendField(http1.AppendField(b, "Max-Forwards", "0"), "Connection", "close")
	if _, err = c.Write(append(u.appendCredentials(b), "\r\n"...)); err == nil {
		_, err = c.Read(b[:1])
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: it accepts connections, and does not answer: %w", scheme.ErrUpstream, context.Cause(ctx))
	}
	return nil // it answers, or closes the connection, which it does by itself as well
}

// through opens a tunnel to an address through a proxy.
func (h *Handler) through(ctx context.Context, u Upstream, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, h.config.HeaderTimeout)
	defer cancel()
	c, err := h.askThrough(ctx, u, address)
	if isSilence(err) {
		return nil, late{err}
	}
	return c, err
}

func (h *Handler) askThrough(ctx context.Context, u Upstream, address string) (net.Conn, error) {
	switch {
	case u.isHTTP():
		c, err := h.dialUpstream(ctx, u)
		if err != nil {
			return nil, err
		}
		return connectThrough(ctx, c, u, address)
	case u.Scheme == "socks5":
		return h.socks(ctx, u, address)
	default:
		return nil, fmt.Errorf("%w, not %q", errUpstream, u.Scheme)
	}
}

// connectThrough asks a proxy for a tunnel on a connection, which it closes on error: RFC 9110
// section 9.3.6.
func connectThrough(ctx context.Context, c net.Conn, u Upstream, address string) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(past()) })
	tunnel, err := askTunnel(c, u, address)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("%w: asking it for a tunnel: %w", scheme.ErrUpstream, err)
	}
	return tunnel, nil
}

func askTunnel(c net.Conn, u Upstream, address string) (net.Conn, error) {
	b := append([]byte("CONNECT "), address...)
	b = http1.AppendField(append(b, " HTTP/1.1\r\n"...), "Host", address)
	b = append(u.appendCredentials(b), "\r\n"...)
	if _, err := c.Write(b); err != nil {
		return nil, err
	}
	in := bufio.NewReader(c)
	for range maxInterim + 1 {
		var h http1.ResponseHead
		var err error
		if h, b, err = http1.ReadResponse(in, b, nil); err != nil {
			return nil, responseError(err)
		}
		switch {
		case h.Status >= 300:
			return nil, answered(h)
		case h.Status >= 200: // it has no body, whatever its fields say
			return &tunnel{Conn: c, in: in}, nil
		}
	}
	return nil, invalid("more than %d interim responses", maxInterim)
}

// Route is the ways to the server of one request, which are tried one after another.
type Route interface {
	// Next returns the upstream proxy that is tried next, nil where the server itself is connected to, which is the last way. ok is
	// false where no way is left.
	Next() (u *Upstream, ok bool)
	// Failed says that a proxy that Next has returned gave no connection. It is called before another Next.
	Failed(u *Upstream, err error)
}

// unreached is an error of connecting to an upstream proxy: nothing of a request was sent, so that another one may be tried. What
// fails behind that may be due to what is requested, and says nothing about the proxy for others.
type unreached struct{ error }

func (u unreached) Unwrap() error { return u.error }

// isSilence reports whether an error is that of a proxy that gives no answer: it lets the time pass, or closes the connection.
func isSilence(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout() ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// late is an error of an upstream proxy that has not answered, in time or at all, or the server behind it has not. The request may be sent
// to another one.
type late struct{ error }

func (l late) Unwrap() error { return l.error }

// ofDial makes an error of dialling unreached, unless it is about this machine, such as a free port.
func ofDial(err error) error {
	var operation *net.OpError
	if errors.Is(err, netguard.ErrConnectTimeout) || errors.Is(err, netguard.ErrLookup) || errors.As(err, &operation) && operation.Op == "dial" &&
		!errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
		return unreached{err}
	}
	return err
}

// alongRoute calls try with the ways to a server, until one could be connected to. Where a proxy is silent, one other is tried, and not the
// server itself: it may be silent because of what is requested, which must neither take several times as long, nor leave the way of the
// proxies. For the same reason it has not failed for others. What alongRoute returns else is the error of the last one.
func (h *Handler) alongRoute(ctx context.Context, u uri.URI, try func(*Upstream) error) error {
	var route Route
	if h.config.Upstream != nil {
		route = h.config.Upstream(u)
	}
	if route == nil {
		return try(nil)
	}
	wasLate := false
	for err := errNoWay; ; {
		upstream, ok := route.Next()
		if !ok || upstream == nil && wasLate {
			return err
		}
		err = try(upstream)
		switch {
		case upstream == nil || ctx.Err() != nil:
			return err
		case errors.As(err, new(unreached)):
			route.Failed(upstream, err)
		case errors.As(err, new(late)) && !wasLate:
			wasLate = true
		default:
			return err
		}
	}
}
