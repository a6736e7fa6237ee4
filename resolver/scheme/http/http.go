// Package http fetches http and https resources as scheme.Handler: RFC 9110, RFC 9112 and RFC 9113. A
// scheme.Request enters; a response with a streamed body leaves, or an upgraded connection after status 101. It
// pools connections, retries on a new one if an idle one was closed, and connects through upstream proxies
// (HTTP, HTTPS, SOCKS5), with limits, timeouts and address checks. It neither follows redirects nor caches.
//
// HTTP/1.1 is implemented here, because a proxy must forward messages exactly as they were sent; HTTP/2 is that
// of the standard library.
package http

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Config configures a Handler. Dial, HeaderTimeout and Now must be set.
type Config struct {
	// Dial opens connections. It must restrict the destinations.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// DialChecked opens connections like Dial, except to addresses for which check returns an error. nil means
	// Dial, followed by the check of the connected address.
	DialChecked func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error)
	// DialUpstream opens connections to upstream proxies from the configuration; nil means Dial.
	DialUpstream func(ctx context.Context, network, address string) (net.Conn, error)
	// Upstream returns the route to u, and is called once per request; nil, and a nil result, connects
	// directly.
	Upstream func(u uri.URI) Route
	// CheckViaProxy returns an error if an upstream proxy must not be asked for "host:port"; nil allows all.
	CheckViaProxy func(address string) error
	// HeaderTimeout is the timeout for the head of a response, after the request was sent, and for an upstream
	// proxy to connect.
	HeaderTimeout time.Duration
	// ContinueTimeout is the time for which the body of a request with "Expect: 100-continue" is delayed; 0
	// sends it immediately.
	ContinueTimeout time.Duration
	// StallTimeout is the timeout of a read of a response by HTTP/2 while nothing is sent on its stream; 0 is none. The
	// dialer can limit only what is read from a connection, which other streams keep active.
	StallTimeout time.Duration
	// MaxIdle is the maximum number of idle connections; 0 disables keep-alive.
	MaxIdle int
	// MaxIdlePerHost is the maximum number of idle connections to one host; 0 means half of MaxIdle.
	MaxIdlePerHost int
	// IdleTimeout is the timeout of an idle connection; 0 means 90 seconds.
	IdleTimeout time.Duration
	// TLS is cloned for each connection; nil means the defaults.
	TLS *tls.Config
	// Now is the clock.
	Now func() time.Time
}

const idleTimeout = 90 * time.Second

// Handler fetches by HTTP. It neither follows redirects nor caches. The caller must close it. It is safe for
// concurrent use.
type Handler struct {
	config  Config
	pool    pool         // HTTP/1.1
	shared  *sharedConns // HTTP/2
	buffers sync.Pool    // *[]byte, for request bodies
}

// New returns a Handler.
func New(config Config) *Handler {
	if config.MaxIdlePerHost == 0 {
		config.MaxIdlePerHost = scheme.MaxPerServer(config.MaxIdle)
	}
	if config.IdleTimeout == 0 {
		config.IdleTimeout = idleTimeout
	}
	h := &Handler{config: config, pool: newPool(config), shared: newSharedConns(config.MaxIdle)}
	h.buffers.New = func() any {
		b := make([]byte, bodyBuffer)
		return &b
	}
	return h
}

// Fetch implements scheme.Handler. It closes the body of the request if that is an io.Closer. The body may be
// read until Fetch returns an error, or else until the body of the resource is closed; both wait for a pending
// read. An error wraps resolver.ErrForbidden if the server must not be contacted, context.DeadlineExceeded for
// a timeout, scheme.ErrRequestBody if reading the body of the request failed, and otherwise resolver.ErrUnreachable,
// with scheme.ErrInvalidResponse if the response is invalid.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	var resource *scheme.Resource
	err := h.tryRoute(ctx, r.URI, func(upstream *Upstream) error {
		out, err := h.newRequest(r, upstream)
		if err == nil {
			resource, err = h.fetch(ctx, out)
		}
		return err
	})
	if err != nil {
		closeBody(r.Body)
		endBound(r)
		return nil, wrap(r.URI, err)
	}
	return resource, nil
}

// carrier is a connection that carries exchanges.
type carrier interface {
	// exchange sends a request and returns the response. The error is unanswered if no byte of a response
	// arrived.
	exchange(ctx context.Context, r *request) (*scheme.Resource, error)
	// pooled reports whether the connection was used before, so the server may have closed it since.
	pooled() bool
}

// fetch sends a request, and retries it on a new connection if the origin had closed an idle one: RFC 9112
// section 9.3.1.
func (h *Handler) fetch(ctx context.Context, r *request) (*scheme.Resource, error) {
	c, resource, err := h.attempt(ctx, r)
	// Terminates: each attempt removes an idle connection.
	for errors.Is(err, errStale) && r.Bound == nil && ctx.Err() == nil {
		c, resource, err = h.attempt(ctx, r)
	}
	if c == nil {
		return nil, err
	}
	if err != nil && r.Bound == nil && c.pooled() && r.repeatable(err) && ctx.Err() == nil {
		resource, err = h.again(ctx, r)
	}
	if err != nil {
		return nil, startedError{err}
	}
	return resource, nil
}

// attempt sends a request on an idle connection, otherwise on a new one. The carrier is nil if there was no
// connection.
func (h *Handler) attempt(ctx context.Context, r *request) (carrier, *scheme.Resource, error) {
	c, err := h.connection(ctx, r, true)
	if err != nil {
		return nil, nil, err
	}
	resource, err := c.exchange(ctx, r)
	return c, resource, err
}

// again sends a request on a new connection.
func (h *Handler) again(ctx context.Context, r *request) (*scheme.Resource, error) {
	c, err := h.connection(ctx, r, false)
	if err != nil {
		return nil, err
	}
	return c.exchange(ctx, r)
}

// connection returns an idle connection for a request if idle allows that and one fits, otherwise a new one.
func (h *Handler) connection(ctx context.Context, r *request, idle bool) (carrier, error) {
	if r.Bound != nil {
		if c := h.takeBound(r); c != nil {
			return c, nil
		}
	} else if idle {
		c := h.shared.take(r)
		if c == nil {
			c = h.pool.take(r)
		}
		if c != nil {
			return c, nil
		}
	}
	c, err := h.connect(ctx, r)
	if err != nil {
		return nil, caused(ctx, err)
	}
	return c, nil
}

// Close closes the idle connections, and the others after their exchange. Bound connections end with their
// scheme.BoundConn.
func (h *Handler) Close() {
	h.pool.Close()
	h.shared.close()
}
