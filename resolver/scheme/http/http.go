// Package http fetches "http" and "https" resources: a client of HTTP/1.1 of its own, since what
// goes through a proxy must be what was sent, and that of the standard library for HTTP/2.
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

// Config is the configuration of a Handler. Dial, HeaderTimeout and Now must be set.
type Config struct {
	// Dial opens connections. It must restrict destinations.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// DialChecked opens connections like Dial, and to no address for which check returns an
	// error. nil means Dial, with the check of the address that was connected to.
	DialChecked func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error)
	// DialUpstream opens connections to upstream proxies, which the configuration names; nil
	// means Dial.
	DialUpstream func(ctx context.Context, network, address string) (net.Conn, error)
	// Upstream returns on which ways through proxies u is fetched, once for each request; nil, and a nil result, is none.
	Upstream func(u uri.URI) Route
	// Behind returns why an upstream proxy must not be asked for "host:port"; nil allows all.
	Behind func(address string) error
	// HeaderTimeout is how long an origin may take to send the header of its response, after the
	// request was sent, and an upstream proxy to connect.
	HeaderTimeout time.Duration
	// ContinueTimeout is how long the body of a request with "Expect: 100-continue" is held
	// back; 0 sends it at once.
	ContinueTimeout time.Duration
	// MaxIdle bounds the idle connections; 0 disables keep-alive.
	MaxIdle int
	// MaxIdlePerHost bounds those to one host; 0 means half of MaxIdle.
	MaxIdlePerHost int
	// IdleTimeout is how long an idle connection is kept; 0 means 90 seconds.
	IdleTimeout time.Duration
	// TLS is cloned for each connection; nil means the defaults.
	TLS *tls.Config
	// Now is the clock.
	Now func() time.Time
}

const idleTimeout = 90 * time.Second

// Handler fetches by HTTP. It does not follow redirects, and has no cache. The caller must
// close it. It is safe for concurrent use.
type Handler struct {
	config  Config
	pool    pool         // of HTTP/1.1
	shared  *sharedConns // of HTTP/2
	buffers sync.Pool    // of *[]byte, for bodies of requests
}

// New returns a Handler.
func New(config Config) *Handler {
	if config.MaxIdlePerHost == 0 {
		config.MaxIdlePerHost = scheme.Half(config.MaxIdle)
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

// Fetch implements scheme.Handler. It closes the body of the request where that is an io.Closer.
// Until Fetch returns an error, or else until the body of the resource is closed, the body of the
// request may be read; both wait for a read of it that has begun. An error wraps
// resolver.ErrForbidden where the server must not be asked, context.DeadlineExceeded where it is
// too slow, scheme.ErrBody where the body of the request failed, and else
// resolver.ErrUnreachable, with scheme.ErrResponse where the response is not valid.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	var resource *scheme.Resource
	err := h.alongRoute(ctx, r.URI, func(upstream *Upstream) error {
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
	// exchange sends a request and returns the response. The error is unanswered where no octet
	// of a response came.
	exchange(ctx context.Context, r *request) (*scheme.Resource, error)
	// pooled reports whether the connection was used before, and may have been closed since.
	pooled() bool
}

// fetch sends a request, and once more where the origin has closed an idle connection:
// RFC 9112 section 9.3.1.
func (h *Handler) fetch(ctx context.Context, r *request) (*scheme.Resource, error) {
	c, resource, err := h.attempt(ctx, r)
	for errors.Is(err, errStale) && r.Bound == nil && ctx.Err() == nil { // there is one idle connection less
		c, resource, err = h.attempt(ctx, r)
	}
	if c == nil {
		return nil, err
	}
	if err != nil && r.Bound == nil && c.pooled() && r.repeatable(err) && ctx.Err() == nil {
		resource, err = h.again(ctx, r)
	}
	if err != nil {
		return nil, begun{err}
	}
	return resource, nil
}

// attempt sends a request on an idle connection, if there is one, or else on a new one. The carrier is nil where there is none.
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

// connection returns an idle connection for a request, if it may be one, or else a new one.
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

// Close closes idle connections, and the others after use. Those that are bound end with their scheme.BoundConn.
func (h *Handler) Close() {
	h.pool.Close()
	h.shared.close()
}
