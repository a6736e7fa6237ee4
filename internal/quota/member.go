package quota

import (
	"net/netip"
	"sync/atomic"
	"time"
)

// Evictable is implemented by the resources in a Pool. The pool calls its methods with its lock held, so they
// must not call the pool.
type Evictable interface {
	// Unread reports whether received input has not been read yet and would be lost by an eviction.
	Unread() bool
	// Evict notifies the holder that its member was evicted at now. It must not block. It may be called before
	// Pool.Add returns.
	Evict(now time.Time)
}

// Member is a resource in a Pool, such as a connection. The holder marks it as in use or idle, and the pool
// only evicts it while it is idle: both transitions are made on one atomic value. A nil *Member is unlimited
// and never evicted. It is safe for concurrent use.
type Member struct {
	pool   *Pool
	of     Evictable
	since  atomic.Int64 // start of the idle time according to Pool.clock; or active, or evicted
	wanted atomic.Bool  // the pool wants to be notified when it becomes idle

	// Guarded by the lock of the pool.
	address *address // nil if it is no longer a member
	seen    int64    // value of since that determines its place in the heap; never later than since
	place   int
}

// Values of Member.since that are not times.
const (
	active  int64 = 0
	evicted int64 = -1
)

func (m *Member) before(other *Member) bool { return m.seen < other.seen }
func (m *Member) at() *int                  { return &m.place }

// clock returns the nanoseconds since the creation of the pool, at least 1.
func (p *Pool) clock() int64 { return max(int64(p.now().Sub(p.start)), 1) }

// Use marks the member as in use before input is processed. It may be called again. It returns false if the
// member was evicted: the input must not be processed then.
func (m *Member) Use() (ok bool) {
	if m == nil {
		return true
	}
	for {
		switch since := m.since.Load(); {
		case since == active:
			return true
		case since == evicted:
			return false
		case m.since.CompareAndSwap(since, active):
			return true
		}
	}
}

// Idle marks the member as idle. It must not have unread input.
func (m *Member) Idle() {
	if m == nil || !m.since.CompareAndSwap(active, m.pool.clock()) || !m.wanted.Load() {
		return
	}
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	if m.wanted.Store(false); m.address != nil {
		m.pool.setEvictable(m, true)
		m.pool.signal()
	}
}

// Move assigns the member to another client, once the client is known. It returns false if that client is at
// its limit and none of its members can be evicted.
func (m *Member) Move(client netip.Addr) (ok bool) {
	if m == nil {
		return true
	}
	p := m.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if key, _ := keys(client); m.address == nil || m.address.key == key {
		return true
	}
	if !p.makeClientRoom(client) {
		return false
	}
	if m.address != nil { // not evicted itself by makeClientRoom
		p.remove(m)
		p.insert(m, client)
	}
	return true
}

// Remove removes the member when the resource is closed. It may be called again.
func (m *Member) Remove() {
	if m == nil {
		return
	}
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	if m.address != nil {
		m.pool.remove(m)
	}
}
