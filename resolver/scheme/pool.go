package scheme

import (
	"sync"
	"time"
)

// PooledConn is a connection in a Pool.
type PooledConn[K comparable] interface {
	// Server returns the key of the connection's server, such as "host:port".
	Server() K
}

// PoolConfig configures a Pool. All fields must be set.
type PoolConfig[C any] struct {
	// MaxIdle is the maximum number of idle connections, 0 for none, and MaxIdlePerServer the maximum to one server.
	MaxIdle, MaxIdlePerServer int
	Timeout                   time.Duration // idle timeout of a connection
	Now                       func() time.Time
	Close                     func(C) // closes a removed connection; it must not wait for the server
}

// MaxPerServer returns the limit of idle connections to one server: half of most, so that other servers have room, and
// at least 1.
func MaxPerServer(most int) int { return max(most/2, 1) }

// Pool holds the idle connections of one protocol for later requests. It runs no permanent goroutine. It is
// safe for concurrent use.
type Pool[K comparable, C PooledConn[K]] struct {
	config PoolConfig[C]

	mu     sync.Mutex
	closed bool
	idle   map[K]line[C]
	count  int
	// All idle connections in the order in which they became idle; nil for none.
	oldest, newest *waiting[C]
	unused         *waiting[C] // free list of entries, linked by older; it grows to the peak of idle connections
	timer          *time.Timer // nil while no connection is idle
}

// line is the list of idle connections to one server. It is a map value, so that a server that comes and goes
// needs no allocation.
type line[C any] struct {
	newest, oldest *waiting[C]
	count          int
}

// waiting is the list entry of an idle connection. Entries are reused for later connections.
type waiting[C any] struct {
	conn         C
	since        time.Time
	older, newer *waiting[C] // neighbors in the list of all connections
	below, above *waiting[C] // the next older and the next newer entry of the same server
	use          uint64      // generation: how many connections were removed from the entry
}

// candidate is a snapshot of an idle connection.
type candidate[C any] struct {
	entry *waiting[C]
	use   uint64
	conn  C
	since time.Time
}

func (w *waiting[C]) candidate() candidate[C] { return candidate[C]{w, w.use, w.conn, w.since} }

// NewPool returns an empty Pool.
func NewPool[K comparable, C PooledConn[K]](config PoolConfig[C]) *Pool[K, C] {
	return &Pool[K, C]{config: config, idle: make(map[K]line[C])}
}

// Enabled reports whether the pool keeps any connections.
func (p *Pool[K, C]) Enabled() bool { return p.config.MaxIdle > 0 }

// Take removes and returns the most recently used connection to a server that fits accepts; a nil fits accepts
// any. The pool is not locked while fits runs.
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

// pop removes an entry, expired or not.
func (p *Pool[K, C]) pop(server K, fits func(C) bool) (found candidate[C], ok bool) {
	// In the common case the newest connection fits.
	if found, ok = p.latest(server, fits == nil); !ok || fits == nil || fits(found.conn) && p.isRemoved(found) {
		return found, ok
	}
	for _, found := range p.candidates(server) {
		if fits(found.conn) && p.isRemoved(found) {
			return found, true
		}
	}
	return found, false
}

// latest returns the newest entry of a server; takes removes it.
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

// isRemoved removes an entry and reports whether it did: another goroutine may have removed it before.
func (p *Pool[K, C]) isRemoved(found candidate[C]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found.entry.use != found.use {
		return false
	}
	p.remove(found.entry)
	return true
}

// left returns the remaining idle time of a connection, negative if it has expired.
func (p *Pool[K, C]) left(since time.Time) time.Duration {
	return p.config.Timeout - p.config.Now().Sub(since)
}

// Put adds a connection. At a limit it closes the connection that has been idle longest, of the same server or
// of all.
func (p *Pool[K, C]) Put(conn C) {
	if old, ok := p.add(conn); ok {
		p.config.Close(old)
	}
}

// add adds conn and returns the connection to close: the evicted one, or conn itself if the pool is closed or
// disabled.
func (p *Pool[K, C]) add(conn C) (old C, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.Enabled() {
		return conn, true
	}
	server := conn.Server()
	var beyond *waiting[C]
	if same := p.idle[server]; same.count >= p.config.MaxIdlePerServer {
		beyond = same.oldest
	} else if p.count >= p.config.MaxIdle {
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

// append adds the newest entry; p.mu is held.
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

// remove removes an entry and puts it on the free list; p.mu is held.
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

// leave removes an entry from the list of its server; p.mu is held.
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

// expire closes the connections whose idle timeout has passed, and rearms the timer for the next one.
func (p *Pool[K, C]) expire() {
	const least = 100 * time.Millisecond // minimum time between two runs
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

// Drop closes the idle connections for which is returns true, and returns their number. is runs with the pool
// locked.
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

// Close closes the idle connections. Connections put later are closed immediately.
func (p *Pool[K, C]) Close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	p.Drop(func(C) bool { return true })
}

// Len returns the number of idle connections.
func (p *Pool[K, C]) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}
