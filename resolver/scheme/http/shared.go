package http

import (
	"slices"
	"sync"
)

// sharedConns holds the HTTP/2 connections that requests share, at most max. A connection closes itself after
// its idle timeout. It is safe for concurrent use.
type sharedConns struct {
	max int

	mu     sync.Mutex
	closed bool
	total  int
	conns  map[key][]*http2Conn
}

func newSharedConns(limit int) *sharedConns {
	return &sharedConns{max: limit, conns: make(map[key][]*http2Conn)}
}

// take returns a connection for a request with a stream reserved, nil for none.
func (s *sharedConns) take(r *request) carrier {
	if !r.target.secure && !r.target.h2c || r.upgrade || r.isPrivate() {
		return nil
	}
	s.mu.Lock()
	candidates := slices.Clone(s.conns[r.target.key])
	s.mu.Unlock()
	for _, c := range slices.Backward(candidates) {
		if allows(r.check, c.from) && c.Reserve() == nil {
			return c
		}
	}
	return nil
}

// add shares a connection. At the limit it replaces an idle one; if none is idle, the connection stays
// unshared.
func (s *sharedConns) add(c *http2Conn) {
	s.mu.Lock()
	full := s.total >= s.max
	var idle *http2Conn
	if full {
		idle = s.idle()
	}
	if idle != nil {
		s.remove(idle)
		full = false
	}
	if full = full || s.closed; !full {
		s.conns[c.key] = append(s.conns[c.key], c)
		s.total++
		c.shared = true
	}
	s.mu.Unlock()
	if idle != nil {
		_ = idle.Close()
	}
}

// idle returns a connection without streams, nil for none; s.mu is held.
func (s *sharedConns) idle() *http2Conn {
	for _, all := range s.conns {
		for _, c := range all {
			if c.InFlight() == 0 {
				return c
			}
		}
	}
	return nil
}

// remove removes a connection, if present; s.mu is held.
func (s *sharedConns) remove(c *http2Conn) {
	i := slices.Index(s.conns[c.key], c)
	if i < 0 {
		return
	}
	s.total--
	if s.conns[c.key] = slices.Delete(s.conns[c.key], i, i+1); len(s.conns[c.key]) == 0 {
		delete(s.conns, c.key)
	}
}

// retire unshares a connection. It is closed when it has no streams.
func (s *sharedConns) retire(c *http2Conn) {
	s.mu.Lock()
	c.shared = false
	s.mu.Unlock()
	s.changed(c)
}

// changed is the state hook: it removes a failed connection, and closes an unshared one without streams.
func (s *sharedConns) changed(c *http2Conn) {
	broken := c.Err() != nil
	s.mu.Lock()
	last := !c.shared || s.closed
	if broken || last {
		s.remove(c)
	}
	s.mu.Unlock()
	if last && !broken && c.InFlight() == 0 {
		_ = c.Close()
	}
}

// close closes the connections without streams. The others are closed when they have none.
func (s *sharedConns) close() {
	s.mu.Lock()
	s.closed = true
	var idle []*http2Conn
	for _, all := range s.conns {
		for _, c := range all {
			if c.InFlight() == 0 {
				idle = append(idle, c)
			}
		}
	}
	s.mu.Unlock()
	for _, c := range idle {
		_ = c.Close()
	}
}
