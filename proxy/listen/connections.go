package proxy

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// presence knows the connections and requests of a server, which net/http does not tell:
// from Shutdown on it closes connections without an answer whose first request has not
// come to a handler, and it closes idle ones under clients that are about to send.
type presence struct {
	active  atomic.Int64 // handlers that run, of connections that were taken over too
	leaving atomic.Bool  // clients are told to go elsewhere with their next request

	unused func() // a connection ended without a request; nil tells nobody
	until  func() time.Time

	mu      sync.Mutex
	conns   map[net.Conn]bool // whether some request of it has come to a handler
	changed chan struct{}
}

func newPresence(unused func(), until func() time.Time) *presence {
	return &presence{unused: unused, until: until, conns: make(map[net.Conn]bool), changed: make(chan struct{}, 1)}
}

// state is a ConnState.
func (p *presence) state(conn net.Conn, s http.ConnState) {
	state(conn, s)
	switch s {
	case http.StateNew:
		p.mu.Lock()
		p.conns[conn] = false
		p.mu.Unlock()
	case http.StateClosed, http.StateHijacked:
		p.mu.Lock()
		arrived := p.conns[conn]
		delete(p.conns, conn)
		p.mu.Unlock()
		if !arrived && p.unused != nil {
			p.unused()
		}
		p.tell()
	case http.StateActive, http.StateIdle:
	}
}

func (p *presence) tell() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// handling counts requests, and notes that a connection has sent one.
func (p *presence) handling(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.active.Add(1)
		defer func() {
			if p.active.Add(-1) == 0 {
				p.tell()
			}
		}()
		conn, _ := r.Context().Value(watchedKey{}).(net.Conn)
		if c, ok := conn.(*watchedConn); conn != nil && (!ok || !c.arrived.Swap(true)) {
			p.arrived(conn)
		}
		if p.leaving.Load() && r.Header.Get("Upgrade") == "" {
			w.Header().Set("Connection", "close")
		}
		if r.ProtoMajor == 2 && p.until != nil {
			w = newStream(w, p.until)
		}
		next.ServeHTTP(w, r)
	})
}

func (p *presence) arrived(conn net.Conn) {
	p.mu.Lock()
	if _, ok := p.conns[conn]; ok {
		p.conns[conn] = true
	}
	p.mu.Unlock()
	p.tell()
}

// allArrived reports whether each connection has sent a request.
func (p *presence) allArrived() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, arrived := range p.conns {
		if !arrived {
			return false
		}
	}
	return true
}

// gone reports whether there is no connection left, and no request.
func (p *presence) gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns) == 0 && p.active.Load() == 0
}

// idle reports whether no request is left.
func (p *presence) idle() bool { return p.active.Load() == 0 }

// longestArrival is how long net/http waits for the first request of a connection when
// it ends.
const longestArrival = 5 * time.Second

// wait returns when done says so, or when ctx ends.
func (p *presence) wait(ctx context.Context, done func() bool) {
	for !done() {
		select {
		case <-p.changed:
		case <-ctx.Done():
			return
		}
	}
}
