package scheme

import (
	"slices"
	"sync"
	"time"
)

// PooledConn is a connection of a Pool.
type PooledConn[K comparable] interface {
	// Server is what the connections of a server have in common, such as "host:port".
	Server() K
}

// PoolConfig configures a Pool. All fields must be set.
type PoolConfig[C any] struct {
	// Most is how many connections wait at most, 0 for none, and OfServer how many to one server.
	Most, OfServer int
	Timeout        time.Duration // how long each waits
	Now            func() time.Time
	Close          func(C) // ends a connection that is used no more. It must not wait for the server
}

// Half returns how many of most connections may be to one server, so that those to others have room.
func Half(most int) int { return max(most/2, 1) }

// Pool has the connections of one protocol that wait for their next request. It has no goroutine. It is safe for
// concurrent use.
type Pool[K comparable, C PooledConn[K]] struct {
	config PoolConfig[C]

	mu     sync.Mutex
	closed bool
	idle   map[K][]*waiting[C] // the newest last
	count  int
	// All that wait, in the order of their time; nil for none.
	oldest, newest *waiting[C]
	timer          *time.Timer // nil while none waits
}

// waiting is a connection in a Pool.
type waiting[C any] struct {
	conn         C
	since        time.Time
	older, newer *waiting[C]
	isOver       bool // it waits no more
}

// NewPool returns a Pool.
func NewPool[K comparable, C PooledConn[K]](config PoolConfig[C]) *Pool[K, C] {
	return &Pool[K, C]{config: config, idle: make(map[K][]*waiting[C])}
}

// Enabled reports whether connections are kept.
func (p *Pool[K, C]) Enabled() bool { return p.config.Most > 0 }

// Take removes the connection to a server that was used last of those that fit a request; nil takes any. Others use the pool
// while fits is called.
func (p *Pool[K, C]) Take(server K, fits func(C) bool) (conn C, ok bool) {
	for {
		w := p.pop(server, fits)
		switch {
		case w == nil:
			return conn, false
		case p.left(w) > 0:
			return w.conn, true
		}
		p.config.Close(w.conn)
	}
}

// pop removes an entry, nil for none.
func (p *Pool[K, C]) pop(server K, fits func(C) bool) *waiting[C] {
	if w := p.latest(server, fits == nil); w == nil || fits == nil || fits(w.conn) && p.isRemoved(w) { // as most do
		return w
	}
	p.mu.Lock()
	candidates := slices.Clone(p.idle[server])
	p.mu.Unlock()
	for _, w := range slices.Backward(candidates) {
		if fits(w.conn) && p.isRemoved(w) {
			return w
		}
	}
	return nil
}

// latest returns the newest entry of a server, nil for none, and removes it where it is taken.
func (p *Pool[K, C]) latest(server K, takes bool) *waiting[C] {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := p.idle[server]
	if len(same) == 0 {
		return nil
	}
	w := same[len(same)-1]
	if takes {
		p.remove(w)
	}
	return w
}

// isRemoved removes an entry, unless another one has done so meanwhile.
func (p *Pool[K, C]) isRemoved(w *waiting[C]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.isOver {
		return false
	}
	p.remove(w)
	return true
}

// left returns how much longer an entry may wait.
func (p *Pool[K, C]) left(w *waiting[C]) time.Duration {
	return p.config.Timeout - p.config.Now().Sub(w.since)
}

// Put adds a connection. Beyond a bound it closes the one that has waited for longest.
func (p *Pool[K, C]) Put(conn C) {
	if old, ok := p.add(conn); ok {
		p.config.Close(old)
	}
}

// add returns the connection that is to be closed.
func (p *Pool[K, C]) add(conn C) (old C, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.Enabled() {
		return conn, true
	}
	server := conn.Server()
	var beyond *waiting[C]
	if same := p.idle[server]; len(same) >= p.config.OfServer {
		beyond = same[0]
	} else if p.count >= p.config.Most {
		beyond = p.oldest
	}
	if beyond != nil {
		p.remove(beyond)
		old, ok = beyond.conn, true
	}
	w := &waiting[C]{conn: conn, since: p.config.Now(), older: p.newest}
	if p.newest != nil {
		p.newest.newer = w
	} else {
		p.oldest = w
	}
	p.newest = w
	p.idle[server] = append(p.idle[server], w)
	p.count++
	if p.timer == nil {
		p.timer = time.AfterFunc(p.config.Timeout, p.expire)
	}
	return old, ok
}

// remove removes an entry; p.mu is held.
func (p *Pool[K, C]) remove(w *waiting[C]) {
	if w.older != nil {
		w.older.newer = w.newer
	} else {
		p.oldest = w.newer
	}
	if w.newer != nil {
		w.newer.older = w.older
	} else {
		p.newest = w.older
	}
	w.isOver = true
	p.count--
	server := w.conn.Server()
	rest := p.idle[server]
	if i := slices.Index(rest, w); i >= 0 {
		rest = slices.Delete(rest, i, i+1)
	}
	if len(rest) == 0 {
		delete(p.idle, server)
		return
	}
	p.idle[server] = rest
}

// expire closes the connections that have waited for their time, and waits for the next one.
func (p *Pool[K, C]) expire() {
	const least = 100 * time.Millisecond // between two runs
	var expired []C
	p.mu.Lock()
	p.timer = nil
	for w := p.oldest; w != nil; w = p.oldest {
		if left := p.left(w); left > 0 {
			p.timer = time.AfterFunc(max(left, least), p.expire)
			break
		}
		p.remove(w)
		expired = append(expired, w.conn)
	}
	p.mu.Unlock()
	p.close(expired)
}

func (p *Pool[K, C]) close(conns []C) {
	for _, conn := range conns {
		p.config.Close(conn)
	}
}

// Drop closes the connections of which is is true, and returns how many these are.
func (p *Pool[K, C]) Drop(is func(C) bool) int {
	p.mu.Lock()
	var dropped []C
	for w := p.newest; w != nil; w = w.older {
		if is(w.conn) {
			p.remove(w)
			dropped = append(dropped, w.conn)
		}
	}
	p.mu.Unlock()
	p.close(dropped)
	return len(dropped)
}

// Close closes the connections that wait, and those that are put later.
func (p *Pool[K, C]) Close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	p.Drop(func(C) bool { return true })
}

// Len returns how many connections wait.
func (p *Pool[K, C]) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}
