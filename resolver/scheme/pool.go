package scheme

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// PooledConn is a connection of a Pool.
type PooledConn interface {
	comparable
	// Server is "host:port" of its server, and Remote the address that was dialled.
	Server() string
	Remote() netip.AddrPort
	// Close ends it. It does not wait for the server.
	Close()
}

// Pool has the connections of one protocol that wait for their next request. It has no goroutine. It is safe for
// concurrent use.
type Pool[C PooledConn] struct {
	most, ofServer int
	timeout        time.Duration

	mu     sync.Mutex
	closed bool
	idle   []pooled[C] // the last is the one that was used last
}

// pooled is a connection with what ends it.
type pooled[C any] struct {
	conn C
	end  *time.Timer
}

// NewPool returns a Pool of so many connections at most, each for a time. 0 is none: Put closes them. No server has more
// than half of them, so that those of others have room.
func NewPool[C PooledConn](most int, timeout time.Duration) *Pool[C] {
	return &Pool[C]{most: most, ofServer: max(most/2, 1), timeout: timeout} //nolint:mnd // half
}

// Take removes the connection that was used last of those that fit a request, and whose server check allows; nil
// allows all.
func (p *Pool[C]) Take(check func(netip.AddrPort) error, fits func(C) bool) (conn C, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, e := range slices.Backward(p.idle) {
		if fits(e.conn) && (check == nil || check(e.conn.Remote()) == nil) {
			p.remove(i)
			return e.conn, true
		}
	}
	return conn, false
}

// Put adds a connection. Beyond a bound it closes the one that has waited for longest.
func (p *Pool[C]) Put(conn C) {
	if old, ok := p.add(conn); ok {
		old.Close()
	}
}

// add returns the connection that is to be closed.
func (p *Pool[C]) add(conn C) (old C, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.most <= 0 {
		return conn, true
	}
	if i := p.surplus(conn.Server()); i >= 0 {
		old, ok = p.idle[i].conn, true
		p.remove(i)
	}
	p.idle = append(p.idle, pooled[C]{conn, time.AfterFunc(p.timeout, func() { p.Drop(func(c C) bool { return c == conn }) })})
	return old, ok
}

// surplus returns the index of the connection that makes room for one to a server, -1 where there is room; p.mu is held.
func (p *Pool[C]) surplus(server string) int {
	first, count := -1, 0
	for i, e := range p.idle {
		if e.conn.Server() != server {
			continue
		}
		if count++; first < 0 {
			first = i
		}
	}
	switch {
	case count >= p.ofServer:
		return first
	case len(p.idle) >= p.most:
		return 0
	default:
		return -1
	}
}

// remove removes an entry; p.mu is held.
func (p *Pool[C]) remove(i int) {
	p.idle[i].end.Stop()
	p.idle = slices.Delete(p.idle, i, i+1)
}

// Drop closes the connections of which is is true, and returns how many these are.
func (p *Pool[C]) Drop(is func(C) bool) int {
	p.mu.Lock()
	var dropped []C
	for i, e := range slices.Backward(p.idle) {
		if is(e.conn) {
			dropped = append(dropped, e.conn)
			p.remove(i)
		}
	}
	p.mu.Unlock()
	for _, conn := range dropped {
		conn.Close()
	}
	return len(dropped)
}

// Close closes the connections that wait, and those that are put later.
func (p *Pool[C]) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Drop(func(C) bool { return true })
}

// Len returns how many connections wait.
func (p *Pool[C]) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}
