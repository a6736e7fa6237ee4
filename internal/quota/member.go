package quota

import (
	"net/netip"
	"sync/atomic"
	"time"
)

// Evictable is what a Pool needs of what it bounds. It is called under the lock of the pool, and must not call it.
type Evictable interface {
	// Unread reports whether there is input that was not read yet, which an eviction would lose.
	Unread() bool
	// Evict tells the holder, without waiting, that it has lost its place at a time. It may come before Pool.Add returns.
	Evict(now time.Time)
}

// Member is something in a Pool. Its holder reports whether it is in use, and the pool evicts it only while it is not: both
// agree by one atomic value. A nil *Member is not bounded: it is never evicted. It is safe for concurrent use.
type Member struct {
	pool   *Pool
	of     Evictable
	since  atomic.Int64 // since when it is idle, as Pool.clock has it; active or evicted
	wanted atomic.Bool  // the pool is told when it is idle again

	// Under the lock of the pool.
	address *address // nil where it is no member any more
	seen    int64    // since, when the pool looked last: never later
	place   int
}

// The values of Member.since that are no time.
const (
	active  int64 = 0
	evicted int64 = -1
)

func (m *Member) before(other *Member) bool { return m.seen < other.seen }
func (m *Member) at() *int                  { return &m.place }

// clock returns the nanoseconds since the pool was made, at least 1.
func (p *Pool) clock() int64 { return max(int64(p.now().Sub(p.start)), 1) }

// Use is called before input is used, and may be called again. It returns false where the member was evicted: the input
// must not be used then.
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

// Idle is called where the member is not in use any more, and has no input.
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

// Move makes it a member of another client, who is known only now. It returns false where that has too much that is in use.
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
	if m.address != nil { // it was not the one that was evicted
		p.remove(m)
		p.insert(m, client)
	}
	return true
}

// Remove is called when its holder has ended. It may be called again.
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
