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

// Upstream is a proxy through which resources are fetched. It is comparable. The addresses of origins behind it
// are unknown here, so the proxy must restrict them.
type Upstream struct {
	Scheme         string // "http", "https" or "socks5"
	Address        string // host and port
	User, Password string // no credentials if both are empty
	// TLS configures the authentication of an https proxy and of the client; nil for that of the Handler.
	TLS *tls.Config
}

var (
	errUpstream = errors.New("upstream proxy scheme must be http, https or socks5")
	errNoWay    = fmt.Errorf("%w: no proxy configured", scheme.ErrUpstream)
)

// isHTTP reports whether the proxy speaks HTTP.
func (u Upstream) isHTTP() bool { return u.Scheme == "http" || u.Scheme == "https" }

// appendCredentials appends Proxy-Authorization, if there are credentials: RFC 7617 section 2.
func (u Upstream) appendCredentials(b []byte) []byte {
	if u.User == "" && u.Password == "" {
		return b
	}
	return http1.AppendField(b, "Proxy-Authorization",
		"Basic "+base64.StdEncoding.EncodeToString([]byte(u.User+":"+u.Password)))
}

// answered returns the error for an error response of an upstream proxy.
func answered(h http1.ResponseHead) error {
	return fmt.Errorf("%w: response %d %s", scheme.ErrUpstream, h.Status, h.Reason)
}

// checkBehind checks the address of an origin behind an upstream proxy; check may be nil. For a host name check
// gets the zero value, because the proxy resolves it.
func (h *Handler) checkBehind(address string, check func(netip.AddrPort) error) error {
	if h.config.CheckViaProxy != nil {
		if err := h.config.CheckViaProxy(address); err != nil {
			return fmt.Errorf("checking %s for the upstream proxy: %w", address, err)
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
		return nil, ofDial(fmt.Errorf("%w: connecting: %w", scheme.ErrUpstream, err))
	}
	if u.Scheme != "https" {
		return c, nil
	}
	host, _, err := net.SplitHostPort(u.Address)
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("%w: connecting: %w", scheme.ErrUpstream, err)
	}
	secured, err := h.handshake(ctx, c, host, u.TLS, "http/1.1")
	if err != nil {
		return nil, unreached{fmt.Errorf("%w: connecting: %w", scheme.ErrUpstream, err)}
	}
	return secured, nil
}

// Probe returns an error if an upstream proxy is unusable: connecting fails, or an HTTP proxy sends nothing
// before ctx ends. The content of the response does not matter. The probe is OPTIONS with Max-Forwards: 0,
// which the proxy answers itself (RFC 9110 sections 7.6.2 and 9.3.7).
func (h *Handler) Probe(ctx context.Context, u Upstream) error {
	c, err := h.dialUpstream(ctx, u)
	if err != nil {
		return err
	}
	defer c.Close()
	if !u.isHTTP() {
		return nil
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(pastDeadline()) })
	defer stop()
	b := http1.AppendField([]byte("OPTIONS * HTTP/1.1\r\n"), "Host", u.Address)
	b = http1.AppendField(http1.AppendField(b, "Max-Forwards", "0"), "Connection", "close")
	if _, err = c.Write(append(u.appendCredentials(b), "\r\n"...)); err == nil {
		_, err = c.Read(b[:1])
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: accepts connections, but does not respond: %w", scheme.ErrUpstream, context.Cause(ctx))
	}
	return nil // it answers, or closes the connection, which is also a sign of life
}

// through opens a tunnel to an address through a proxy.
func (h *Handler) through(ctx context.Context, u Upstream, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, h.config.HeaderTimeout)
	defer cancel()
	c, err := h.connectVia(ctx, u, address)
	if isSilence(err) {
		return nil, late{err}
	}
	return c, err
}

func (h *Handler) connectVia(ctx context.Context, u Upstream, address string) (net.Conn, error) {
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

// connectThrough requests a tunnel from a proxy on c, which it closes on error: RFC 9110 section 9.3.6.
func connectThrough(ctx context.Context, c net.Conn, u Upstream, address string) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(pastDeadline()) })
	tunnel, err := requestTunnel(c, u, address)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("%w: requesting a tunnel: %w", scheme.ErrUpstream, err)
	}
	return tunnel, nil
}

func requestTunnel(c net.Conn, u Upstream, address string) (net.Conn, error) {
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
		case h.Status >= 200: // no body, whatever the fields say
			return &tunnel{Conn: c, in: in}, nil
		}
	}
	return nil, invalid("more than %d interim responses", maxInterim)
}

// Route lists the upstream proxies to try for one request, in order.
type Route interface {
	// Next returns the upstream proxy to try next; nil connects directly, which is the last choice. ok is false
	// if no choice is left.
	Next() (u *Upstream, ok bool)
	// Failed reports that connecting to a proxy returned by Next failed. It is called before the following
	// Next.
	Failed(u *Upstream, err error)
}

// unreached is an error of connecting to an upstream proxy. No byte of the request was sent, so another proxy
// may be tried. Later failures may be due to the target, and say nothing about the proxy for other requests.
type unreached struct{ error }

func (u unreached) Unwrap() error { return u.error }

// isSilence reports whether an error means that the proxy did not answer: a timeout, or a closed connection.
func isSilence(err error) bool {
	return isTimeout(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

// late is the error if an upstream proxy, or the server behind it, has not answered. The request may be sent to
// another proxy.
type late struct{ error }

func (l late) Unwrap() error { return l.error }

// ofDial wraps an error of dialing as unreached, unless it is due to this machine, such as no free port.
func ofDial(err error) error {
	var operation *net.OpError
	if errors.Is(err, netguard.ErrConnectTimeout) || errors.Is(err, netguard.ErrLookup) ||
		errors.As(err, &operation) && operation.Op == "dial" &&
			!errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EMFILE) &&
			!errors.Is(err, syscall.ENFILE) {
		return unreached{err}
	}
	return err
}

// tryRoute calls try with each choice of the route until one connects, and returns the error of the last one.
// If a proxy does not answer, one other proxy is tried, but no direct connection: the target may be the reason,
// and it must neither multiply the waiting time nor bypass the proxies. For the same reason the proxy is not
// reported as failed.
func (h *Handler) tryRoute(ctx context.Context, u uri.URI, try func(*Upstream) error) error {
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
