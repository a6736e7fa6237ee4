package http

import (
	"net/netip"

	"github.com/urnd/urnd/resolver/scheme"
)

// pool holds the idle HTTP/1.1 connections, which have no goroutine. It is safe for concurrent use.
type pool struct{ *scheme.Pool[key, *conn] }

func newPool(c Config) pool {
	return pool{scheme.NewPool[key](scheme.PoolConfig[*conn]{
		MaxIdle: c.MaxIdle, MaxIdlePerServer: c.MaxIdlePerHost, Timeout: c.IdleTimeout, Now: c.Now,
		Close: func(c *conn) { _ = c.Close() },
	})}
}

// Server implements scheme.PooledConn.
func (c *conn) Server() key { return c.key }

// take returns a live idle connection for a request, nil for none.
func (p pool) take(r *request) carrier {
	var fits func(*conn) bool
	if r.check != nil {
		fits = func(c *conn) bool { return allows(r.check, c.from) }
	}
	for {
		c, ok := p.Take(r.target.key, fits)
		switch {
		case !ok:
			return nil
		case c.canCarry(r):
			return c
		}
		_ = c.Close()
	}
}

// allows reports whether check allows the server of a connection. The address behind an upstream proxy is
// unknown and allowed here.
func allows(check func(netip.AddrPort) error, server netip.AddrPort) bool {
	return check == nil || !server.IsValid() || check(server) == nil
}

// takeBound returns the idle connection that a request is bound to; nil means that it must dial a new one. A
// connection that the request must not use is closed.
func (h *Handler) takeBound(r *request) carrier {
	c, ok := r.Bound.Take().(*conn)
	if !ok {
		return nil
	}
	if c.handler == h && c.key == r.target.key && allows(r.check, c.from) && c.Alive() {
		return c
	}
	_ = c.Close()
	return nil
}

// endBound ends the BoundConn of a request, if it has one.
func endBound(r scheme.Request) {
	if r.Bound != nil {
		r.Bound.End()
	}
}
