package httpcache

import (
	"net/netip"
	"sync"
	"time"
)

const (
	defaultCollapseTimeout = 5 * time.Second
	defaultCollapseLimit   = 16
)

// limits bound, for each origin, the concurrent exchanges of clients that have followed others in vain. A client has a
// quarter of a limit at most. It is safe for concurrent use.
type limits struct {
	most int

	mu      sync.Mutex
	origins map[string]*originLimit // of those with an exchange
}

// originLimit is that of one origin.
type originLimit struct {
	used    int
	clients map[netip.Addr]int
	freed   chan struct{} // closed when an exchange ends
}

// acquire takes a place, which ends with release; where there is none, freed is closed when that may have changed.
func (l *limits) acquire(origin string, client netip.Addr) (release func(), freed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.origins[origin]
	if o == nil {
		o = &originLimit{clients: make(map[netip.Addr]int), freed: make(chan struct{})}
		l.origins[origin] = o
	}
	if o.used >= l.most || o.clients[client] >= max(l.most/4, 1) {
		return nil, o.freed
	}
	o.used++
	o.clients[client]++
	return sync.OnceFunc(func() { l.release(origin, client) }), nil
}

func (l *limits) release(origin string, client netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.origins[origin]
	o.used--
	if o.clients[client]--; o.clients[client] == 0 {
		delete(o.clients, client)
	}
	close(o.freed)
	o.freed = make(chan struct{})
	if o.used == 0 {
		delete(l.origins, origin)
	}
}
