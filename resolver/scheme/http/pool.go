package http

import (
	"container/list"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// pool has the idle connections of HTTP/1.1, which have no goroutine. It is safe for concurrent
// use.
type pool struct {
	max, perHost int
	timeout      time.Duration
	now          func() time.Time

	mu     sync.Mutex
	closed bool
	idle   map[key][]*conn // the newest last
	order  *list.List      // of *conn, the oldest first
	timer  *time.Timer     // nil while no connection is idle
}

// idle says since when a connection is in a pool.
type idle struct {
	since time.Time
	place *list.Element // nil while it is in none; the mutex of the pool guards it
}

func newPool(c Config) *pool {
	return &pool{
		max: c.MaxIdle, perHost: c.MaxIdlePerHost, timeout: c.IdleTimeout, now: c.Now,
		idle: make(map[key][]*conn), order: list.New(),
	}
}

// enabled reports whether connections are kept.
func (p *pool) enabled() bool { return p.max > 0 }

// take returns a connection for a request that is alive, nil for none.
func (p *pool) take(r *request) carrier {
	for {
		c := p.pop(r)
		if c == nil {
			return nil
		}
		if p.now().Sub(c.since) < p.timeout && c.Alive() {
			return c
		}
		_ = c.Close()
	}
}

// pop removes the newest idle connection whose server a request allows, nil for none.
func (p *pool) pop(r *request) *conn {
	p.mu.Lock()
	candidates := p.idle[r.target.key]
	if r.check != nil {
		candidates = slices.Clone(candidates)
	} else if n := len(candidates); n > 0 {
		c := candidates[n-1]
		p.remove(c)
		p.mu.Unlock()
		return c
	}
	p.mu.Unlock()
	for _, c := range slices.Backward(candidates) {
		if !allows(r.check, c.from) {
			continue
		}
		p.mu.Lock()
		there := c.place != nil
		if there {
			p.remove(c)
		}
		p.mu.Unlock()
		if there {
			return c
		}
	}
	return nil
}

// allows reports whether the server of a connection may be asked. That behind an upstream proxy is
// not known.
func allows(check func(netip.AddrPort) error, server netip.AddrPort) bool {
	return check == nil || !server.IsValid() || check(server) == nil
}

// remove removes an entry; p.mu is held.
func (p *pool) remove(c *conn) {
	p.order.Remove(c.place)
	c.place = nil
	rest := p.idle[c.key]
	if i := slices.Index(rest, c); i >= 0 {
		rest = slices.Delete(rest, i, i+1)
	}
	if len(rest) == 0 {
		delete(p.idle, c.key)
		return
	}
	p.idle[c.key] = rest
}

// put adds a connection, and closes the oldest ones beyond the bounds.
func (p *pool) put(c *conn) {
	for _, old := range p.add(c) {
		_ = old.Close()
	}
}

// add adds a connection, and returns those to close.
func (p *pool) add(c *conn) (beyond []*conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.max == 0 {
		return []*conn{c}
	}
	var old *conn
	if same := p.idle[c.key]; len(same) >= p.perHost {
		old = same[0]
	} else if p.order.Len() >= p.max {
		old = p.oldest()
	}
	if old != nil {
		p.remove(old)
		beyond = append(beyond, old)
	}
	c.idle = idle{since: p.now(), place: p.order.PushBack(c)}
	p.idle[c.key] = append(p.idle[c.key], c)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.timeout, p.expire)
	}
	return beyond
}

// oldest returns the entry that is idle for the longest time, nil for none; p.mu is held.
func (p *pool) oldest() *conn {
	first := p.order.Front()
	if first == nil {
		return nil
	}
	c, _ := first.Value.(*conn)
	return c
}

// expire closes the connections that are idle for too long, and waits for the next one.
func (p *pool) expire() {
	const least = 100 * time.Millisecond // between two runs
	var expired []*conn
	p.mu.Lock()
	p.timer = nil
	for c := p.oldest(); c != nil; c = p.oldest() {
		if left := p.timeout - p.now().Sub(c.since); left > 0 {
			p.timer = time.AfterFunc(max(left, least), p.expire)
			break
		}
		p.remove(c)
		expired = append(expired, c)
	}
	p.mu.Unlock()
	for _, c := range expired {
		_ = c.Close()
	}
}

// close closes all idle connections. Those that are put later are closed too.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	var all []*conn
	for c := p.oldest(); c != nil; c = p.oldest() {
		p.remove(c)
		all = append(all, c)
	}
	p.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}
