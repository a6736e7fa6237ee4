package proxy

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// arrivals are the connections of which no request has come to a handler yet. From
// Shutdown on, net/http closes these without an answer: who ends a server waits for
// them first.
type arrivals struct {
	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	changed chan struct{}
}

func newArrivals() *arrivals {
	return &arrivals{conns: make(map[net.Conn]struct{}), changed: make(chan struct{}, 1)}
}

// state is a ConnState.
func (a *arrivals) state(conn net.Conn, s http.ConnState) {
	state(conn, s)
	switch s {
	case http.StateNew:
		a.mu.Lock()
		a.conns[conn] = struct{}{}
		a.mu.Unlock()
	case http.StateClosed, http.StateHijacked:
		a.done(conn)
	case http.StateActive, http.StateIdle:
	}
}

func (a *arrivals) done(conn net.Conn) {
	a.mu.Lock()
	delete(a.conns, conn)
	a.mu.Unlock()
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// handling notes that a request of a connection has come to a handler.
func (a *arrivals) handling(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(watchedKey{}).(net.Conn)
		if c, ok := conn.(*watchedConn); conn != nil && (!ok || !c.arrived.Swap(true)) {
			a.done(conn)
		}
		next.ServeHTTP(w, r)
	})
}

// longestArrival is how long net/http waits for the first request of a connection when
// it ends.
const longestArrival = 5 * time.Second

// wait returns when the first request of each connection has come, or will not come.
func (a *arrivals) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, longestArrival)
	defer cancel()
	for {
		a.mu.Lock()
		none := len(a.conns) == 0
		a.mu.Unlock()
		if none {
			return
		}
		select {
		case <-a.changed:
		case <-ctx.Done():
			return
		}
	}
}
