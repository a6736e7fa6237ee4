package scheme

import (
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
	idle   map[K]line[C]
	count  int
	// All that wait, in the order of their time; nil for none.
	oldest, newest *waiting[C]
	unused         *waiting[C] // entries for the next connections, linked by older; as many as have waited at a time
	timer          *time.Timer // nil while none waits
}

// line are the connections to one server that wait. It is a value of a map, which needs no memory for one that comes and goes.
type line[C any] struct {
	newest, oldest *waiting[C]
	count          int
}

// waiting is an entry of a Pool for a connection, and then for others.
type waiting[C any] struct {
	conn         C
	since        time.Time
	older, newer *waiting[C] // of all
	below, above *waiting[C] // the older and the newer one of the same server
	use          uint64      // how many connections have left the entry
}

// candidate is a connection that was waiting when it was looked at.
type candidate[C any] struct {
	entry *waiting[C]
	use   uint64
	conn  C
	since time.Time
}

func (w *waiting[C]) candidate() candidate[C] { return candidate[C]{w, w.use, w.conn, w.since} }

// NewPool returns a Pool.
func NewPool[K comparable, C PooledConn[K]](config PoolConfig[C]) *Pool[K, C] {
	return &Pool[K, C]{config: config, idle: make(map[K]line[C])}
}

// Enabled reports whether connections are kept.
func (p *Pool[K, C]) Enabled() bool { return p.config.Most > 0 }

// Take removes the connection to a server that was used last of those that fit a request; nil takes any. Others use the pool
// while fits is called.
func (p *Pool[K, C]) Take(server K, fits func(C) bool) (conn C, ok bool) {
	for {
		found, ok := p.pop(server, fits)
		switch {
		case !ok:
			return conn, false
		case p.left(found.since) > 0:
			return found.conn, true
		}
		p.config.Close(found.conn)
	}
}

// pop removes an entry.
func (p *Pool[K, C]) pop(server K, fits func(C) bool) (found candidate[C], ok bool) {
	if found, ok = p.latest(server, fits == nil); !ok || fits == nil || fits(found.conn) && p.isRemoved(found) { // as most do
		return found, ok
	}
	for _, found := range p.candidates(server) {
		if fits(found.conn) && p.isRemoved(found) {
			return found, true
		}
	}
	return found, false
}

// latest returns the newest entry of a server, and removes it where it is taken.
func (p *Pool[K, C]) latest(server K, takes bool) (found candidate[C], ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.idle[server].newest
	if w == nil {
		return found, false
	}
	found = w.candidate()
	if takes {
		p.remove(w)
	}
	return found, true
}

// candidates returns the entries of a server, the newest first.
func (p *Pool[K, C]) candidates(server K) []candidate[C] {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := p.idle[server]
	all := make([]candidate[C], 0, same.count)
	for w := same.newest; w != nil; w = w.below {
		all = append(all, w.candidate())
	}
	return all
}

// isRemoved removes an entry, unless another one has done so meanwhile.
func (p *Pool[K, C]) isRemoved(found candidate[C]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found.entry.use != found.use {
		return false
	}
	p.remove(found.entry)
	return true
}

// left returns how much longer a connection may wait.
func (p *Pool[K, C]) left(since time.Time) time.Duration {
	return p.config.Timeout - p.config.Now().Sub(since)
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
	if same := p.idle[server]; same.count >= p.config.OfServer {
		beyond = same.oldest
	} else if p.count >= p.config.Most {
		beyond = p.oldest
	}
	if beyond != nil {
		old, ok = beyond.conn, true
		p.remove(beyond)
	}
	p.append(server, conn)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.config.Timeout, p.expire)
	}
	return old, ok
}

// append adds an entry behind the others; p.mu is held.
func (p *Pool[K, C]) append(server K, conn C) {
	w := p.unused
	if w == nil {
		w = new(waiting[C])
	} else {
		p.unused = w.older
	}
	same := p.idle[server]
	w.conn, w.since, w.older, w.below = conn, p.config.Now(), p.newest, same.newest
	if p.newest != nil {
		p.newest.newer = w
	} else {
		p.oldest = w
	}
	if same.newest != nil {
		same.newest.above = w
	} else {
		same.oldest = w
	}
	p.newest, same.newest = w, w
	p.count++
	same.count++
	p.idle[server] = same
}

// remove removes an entry, which is used again; p.mu is held.
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
	p.count--
	p.leave(w)
	*w = waiting[C]{older: p.unused, use: w.use + 1}
	p.unused = w
}

// leave removes an entry from the line of its server; p.mu is held.
func (p *Pool[K, C]) leave(w *waiting[C]) {
	server := w.conn.Server()
	same := p.idle[server]
	if same.count--; same.count == 0 {
		delete(p.idle, server)
		return
	}
	if w.below != nil {
		w.below.above = w.above
	} else {
		same.oldest = w.above
	}
	if w.above != nil {
		w.above.below = w.below
	} else {
		same.newest = w.below
	}
	p.idle[server] = same
}

// expire closes the connections that have waited for their time, and waits for the next one.
func (p *Pool[K, C]) expire() {
	const least = 100 * time.Millisecond // between two runs
	var expired []C
	p.mu.Lock()
	p.timer = nil
	for w := p.oldest; w != nil; w = p.oldest {
		if left := p.left(w.since); left > 0 {
			p.timer = time.AfterFunc(max(left, least), p.expire)
			break
		}
		expired = append(expired, w.conn)
		p.remove(w)
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
	for w := p.newest; w != nil; {
		older := w.older
		if is(w.conn) {
			dropped = append(dropped, w.conn)
			p.remove(w)
		}
		w = older
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
