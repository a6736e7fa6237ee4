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

// turns bounds, for each origin, the exchanges of clients that have waited for another one in vain, so that
// they do not come all at once. It is safe for concurrent use.
type turns struct {
	most int

	mu      sync.Mutex
	origins map[string]*queue // of those with a turn
}

// queue is that of one origin.
type queue struct {
	taken   int
	clients map[netip.Addr]int
	freed   chan struct{} // closed when a turn ends
}

// take takes a turn, which ends with release; where there is none, freed is closed when that may have changed.
func (t *turns) take(origin string, client netip.Addr) (release func(), freed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.origins[origin]
	if q == nil {
		q = &queue{clients: make(map[netip.Addr]int), freed: make(chan struct{})}
		t.origins[origin] = q
	}
	if q.taken >= t.most || q.clients[client] >= max(t.most/4, 1) {
		return nil, q.freed
	}
	q.taken++
	q.clients[client]++
	return sync.OnceFunc(func() { t.give(origin, client) }), nil
}

func (t *turns) give(origin string, client netip.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.origins[origin]
	q.taken--
	if q.clients[client]--; q.clients[client] == 0 {
		delete(q.clients, client)
	}
	close(q.freed)
	q.freed = make(chan struct{})
	if q.taken == 0 {
		delete(t.origins, origin)
	}
}
