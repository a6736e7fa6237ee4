package forward

import (
	"sync"
	"sync/atomic"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Session is a connection of a client, with the connections to servers that belong to it alone and end with it: by NTLM
// and Negotiate a server authenticates a connection (RFC 4559 section 6). Its zero value has none. It is safe for
// concurrent use, and must be closed when the client's connection ends.
type Session struct {
	count atomic.Int32

	mu       sync.Mutex
	isClosed bool
	bound    map[string]*bound // by scheme and authority of the target
}

// bound is a connection to a server that belongs to a Session.
type bound struct {
	*scheme.BoundConn
	proxy  *Proxy  // which has made it
	server uri.URI // of a site that urnd is the gateway of
}

// IsBound reports whether a connection to a server belongs to the session, which may be nil.
func (s *Session) IsBound() bool { return s != nil && s.count.Load() > 0 }

// find returns the connection for an origin that waits for a request, nil for none. One of another Proxy, as that of a
// configuration before, is not used.
func (s *Session) find(p *Proxy, origin string) *bound {
	if !s.IsBound() {
		return nil
	}
	s.mu.Lock()
	b := s.bound[origin]
	s.mu.Unlock()
	switch {
	case b == nil:
		return nil
	case b.proxy != p:
		b.End()
		return nil
	case !b.Waits():
		return nil
	default:
		return b
	}
}

// bind begins a connection for an origin, which has none. It calls release when that has ended.
func (s *Session) bind(p *Proxy, origin string, server uri.URI, release func()) *bound {
	b := &bound{proxy: p, server: server}
	b.BoundConn = scheme.NewBoundConn(func() {
		s.mu.Lock()
		if s.bound[origin] == b {
			delete(s.bound, origin)
		}
		s.count.Store(int32(len(s.bound))) //nolint:gosec // the limit of bound connections is less
		s.mu.Unlock()
		p.boundConns.remove(b)
		release()
	})
	s.mu.Lock()
	if s.bound == nil {
		s.bound = make(map[string]*bound)
	}
	s.bound[origin] = b
	s.count.Store(int32(len(s.bound))) //nolint:gosec // likewise
	isClosed := s.isClosed
	s.mu.Unlock()
	if isClosed {
		b.End()
	}
	return b
}

// Close implements io.Closer: it ends the connections to servers.
func (s *Session) Close() error {
	s.mu.Lock()
	s.isClosed = true
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
