package http

import (
	"net/netip"

	"github.com/urnd/urnd/resolver/scheme"
)

// pool has the idle connections of HTTP/1.1, which have no goroutine. It is safe for concurrent
// use.
type pool struct{ *scheme.Pool[key, *conn] }

func newPool(c Config) pool {
	return pool{scheme.NewPool[key](scheme.PoolConfig[*conn]{
		Most: c.MaxIdle, OfServer: c.MaxIdlePerHost, Timeout: c.IdleTimeout, Now: c.Now,
		Close: func(c *conn) { _ = c.Close() },
	})}
}

// Server implements scheme.PooledConn.
func (c *conn) Server() key { return c.key }

// take returns a connection for a request that is alive, nil for none.
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

// allows reports whether the server of a connection may be asked. That behind an upstream proxy is
// not known.
func allows(check func(netip.AddrPort) error, server netip.AddrPort) bool {
	return check == nil || !server.IsValid() || check(server) == nil
}
