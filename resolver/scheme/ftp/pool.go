package ftp

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// pool has the connections that wait for the next request.
type pool struct {
	max  int
	wait time.Duration

	mu     sync.Mutex
	closed bool
	idle   []waiting // the last is the one that was used last
}

// waiting is a connection with what ends it.
type waiting struct {
	*control
	end *time.Timer
}

func newPool(limit int, wait time.Duration) *pool { return &pool{max: limit, wait: wait} }

// get returns a connection that can be used for a key, and whose server check allows; nil if none waits.
func (p *pool) get(k key, check func(netip.AddrPort) error) *control {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range slices.Backward(p.idle) {
		if w.key == k && checked(check, w.remote) == nil {
			w.end.Stop()
			p.idle = slices.Delete(p.idle, i, i+1)
			return w.control
		}
	}
	return nil
}

// put gives a connection back: it waits, where it can be used again.
func (p *pool) put(c *control) {
	if c.broken || c.home == "" || c.in.Buffered() > 0 || !p.add(c) {
		c.close()
	}
}

func (p *pool) add(c *control) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.max == 0 {
		return false
	}
	if len(p.idle) >= p.max { // the one that waits for longest
		p.idle[0].end.Stop()
		p.idle[0].close()
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	p.idle = append(p.idle, waiting{c, time.AfterFunc(p.wait, func() { p.expire(c) })})
	return true
}

// drop closes all that wait with a key of which is is true.
func (p *pool) drop(is func(key) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = slices.DeleteFunc(p.idle, func(w waiting) bool {
		if !is(w.key) {
			return false
		}
		w.end.Stop()
		w.close()
		return true
	})
}

// expire closes a connection that still waits.
func (p *pool) expire(c *control) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.idle, func(w waiting) bool { return w.control == c })
	if i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		c.close()
	}
}

// close closes all that wait, and lets no other wait.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		w.end.Stop()
		w.close()
	}
	p.idle = nil
}
