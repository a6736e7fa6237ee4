package forward

import (
	"sync"
	"sync/atomic"

	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Session belongs to a connection of a client. It holds the connections to servers that are bound to it and
// close with it: by NTLM and Negotiate a server authenticates a connection (RFC 4559 section 6). The zero
// value has none. It is safe for concurrent use, and must be closed when the client's connection closes.
type Session struct {
	count atomic.Int32

	mu     sync.Mutex
	closed bool
	bound  map[boundTo]*bound
}

// boundTo identifies the server of a bound connection: paths of one host may have different servers.
type boundTo struct {
	origin string        // scheme and authority of the target
	pool   *balance.Pool // of a site; nil for an origin
}

// bound is a connection to a server that is bound to a Session.
type bound struct {
	*scheme.BoundConn
	proxy  *Proxy  // the creator
	server uri.URI // the server of a site; the zero value for an origin
}

// IsBound reports whether a connection to a server is bound to the session, which may be nil.
func (s *Session) IsBound() bool { return s != nil && s.count.Load() > 0 }

// find returns the idle bound connection to an origin or a site's servers, nil for none. A connection of another
// Proxy, such as that of an earlier configuration, is closed.
func (s *Session) find(p *Proxy, to boundTo) *bound {
	if !s.IsBound() {
		return nil
	}
	s.mu.Lock()
	b := s.bound[to]
	s.mu.Unlock()
	switch {
	case b == nil:
		return nil
	case b.proxy != p:
		b.End()
		return nil
	case !b.Reusable():
		return nil
	default:
		return b
	}
}

// bind creates the bound connection to an origin or a site's servers, which must not have one. release is called when
// it is closed.
func (s *Session) bind(p *Proxy, to boundTo, server uri.URI, release func()) *bound {
	b := &bound{proxy: p, server: server}
	b.BoundConn = scheme.NewBoundConn(func() {
		s.mu.Lock()
		if s.bound[to] == b {
			delete(s.bound, to)
		}
		s.count.Store(int32(len(s.bound))) //nolint:gosec // the limit of bound connections is less
		s.mu.Unlock()
		p.boundConns.remove(b)
		release()
	})
	s.mu.Lock()
	if s.bound == nil {
		s.bound = make(map[boundTo]*bound)
	}
	s.bound[to] = b
	s.count.Store(int32(len(s.bound))) //nolint:gosec // see above
	closed := s.closed
	s.mu.Unlock()
	if closed {
		b.End()
	}
	return b
}

// Close implements io.Closer: it closes the connections to servers.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	all := make([]*bound, 0, len(s.bound))
	for _, b := range s.bound {
		all = append(all, b)
	}
	s.mu.Unlock()
	for _, b := range all {
		b.End()
	}
	return nil
}
