package quota

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// PoolLimits limits the members of a Pool.
type PoolLimits struct {
	Total      int
	PerAddress int // 0 is unlimited
	PerNetwork int // per IPv6 /64 network; 0 is unlimited
	// Exempt lists clients without a limit of their own, such as proxies, which have many clients.
	Exempt []netip.Prefix
}

// Pool limits resources that clients hold and may leave idle, such as connections. When a limit is reached, the
// member that has been idle longest is evicted for a new one: a member of the same client if that is at its
// limit, otherwise one of the address with the most members in the network with the most members. Members in
// use are never evicted. It is safe for concurrent use.
//
// Eviction heaps find the member to evict in logarithmic time: networks ordered by their number of members, in
// each network its addresses by their number of members, and of each address its members that may be idle, by
// the start of their idle time. Member.Use takes no lock: the heap orders a member by the last value that the
// pool has read, and an eviction corrects the order when the member is first. A member found in use is removed
// from the heap until it becomes idle (Member.Idle).
type Pool struct {
	now   func() time.Time
	start time.Time

	mu        sync.Mutex
	limits    PoolLimits
	total     int
	addresses map[netip.Prefix]*address
	networks  map[netip.Prefix]*network
	largest   heap[*network] // networks with at least one evictable member
	changed   chan struct{}  // closed and replaced when capacity may be available
}

// address is a client. network is its IPv6 network, or without IPv6 the client alone. The tables contain them
// only while they have members, so the size of the tables is bounded by that of the pool.
type (
	address struct {
		key     netip.Prefix
		network *network
		total   int
		idle    heap[*Member]
		place   int
	}
	network struct {
		key       netip.Prefix
		total     int
		addresses heap[*address] // those that have a member which may be evicted
		place     int
	}
)

func (a *address) before(b *address) bool { return a.total > b.total }
func (a *address) at() *int               { return &a.place }
func (n *network) before(m *network) bool { return n.total > m.total }
func (n *network) at() *int               { return &n.place }

// NewPool returns an empty Pool.
func NewPool(limits PoolLimits, now func() time.Time) *Pool {
	return &Pool{
		now: now, start: now(), limits: limits, changed: make(chan struct{}),
		addresses: make(map[netip.Prefix]*address), networks: make(map[netip.Prefix]*network),
	}
}

// Change sets new limits. Existing members remain.
func (p *Pool) Change(limits PoolLimits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits = limits
	p.signal()
}

// Len returns the number of members.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}

// Idle returns the number of idle members.
func (p *Pool) Idle() (idle int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.addresses {
		for _, m := range a.idle {
			if m.since.Load() != active {
				idle++
			}
		}
	}
	return idle
}

// Add adds a resource of a client as an idle member. It waits until the total limit permits it, or until done
// is closed. It returns nil if the client or its network is at its limit and none of its members can be
// evicted. A client without an address is local and has no limit of its own.
func (p *Pool) Add(client netip.Addr, of Evictable, done <-chan struct{}) *Member {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if !p.makeClientRoom(client) {
			return nil
		}
		if p.makeRoom() || !p.await(done) {
			m := &Member{pool: p, of: of, place: outside}
			m.since.Store(p.clock())
			p.insert(m, client)
			return m
		}
	}
}

// makeClientRoom reports whether the client may have one more member. It evicts one of its members if
// necessary. p.mu is held.
func (p *Pool) makeClientRoom(client netip.Addr) bool {
	exempt := func(of netip.Prefix) bool { return of.Contains(client) }
	if !client.IsValid() || slices.ContainsFunc(p.limits.Exempt, exempt) {
		return true
	}
	key, networkKey := keys(client)
	a := p.addresses[key]
	if a != nil && p.limits.PerAddress > 0 && a.total >= p.limits.PerAddress && !p.evict(a.self) {
		return false
	}
	if !networkKey.IsValid() || p.limits.PerNetwork == 0 {
		return true
	}
	n := p.networks[networkKey]
	return n == nil || n.total < p.limits.PerNetwork || p.evict(n.largest)
}

// makeRoom reports whether the total is below its limit. It evicts members if necessary. p.mu is held.
func (p *Pool) makeRoom() bool {
	for p.total >= p.limits.Total {
		if !p.evict(p.largestAddress) {
			return false
		}
	}
	return true
}

// recheck is the interval at which members are examined again while all are in use. A member that was skipped
// because of unread input may have become idle again without a notification.
const recheck = time.Second

// await waits until capacity may be available, and returns false if done is closed first. p.mu is held, but
// released while it waits.
func (p *Pool) await(done <-chan struct{}) bool {
	changed := p.changed
	p.mu.Unlock()
	defer p.mu.Lock()
	timer := time.NewTimer(recheck)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-done:
		return false
	}
	return true
}

// signal wakes all waiters; p.mu is held.
func (p *Pool) signal() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// evict evicts the longest idle member of the address returned by next. It calls next until that returns nil,
// and reports whether it evicted a member. p.mu is held.
func (p *Pool) evict(next func() *address) bool {
	var unread []*Member // have unread input and are about to be in use
	defer func() {
		for _, m := range unread {
			p.setEvictable(m, true)
		}
	}()
	for a := next(); a != nil; a = next() {
		m := a.idle[0]
		since := m.since.Load()
		switch {
		case since == active:
			m.wanted.Store(true)
			if m.since.Load() == active {
				p.setEvictable(m, false)
			}
		case since != m.seen:
			m.seen = since
			p.setEvictable(m, true)
		case m.of.Unread():
			m.wanted.Store(true)
			p.setEvictable(m, false)
			unread = append(unread, m)
		case m.since.CompareAndSwap(since, evicted):
			p.remove(m)
			m.of.Evict(p.now())
			return true
		}
	}
	return false
}

// insert adds m as a member of client; p.mu is held.
func (p *Pool) insert(m *Member, client netip.Addr) {
	m.address = p.addressOf(client)
	m.seen = m.since.Load()
	m.address.idle.fix(m)
	p.count(m.address, 1)
}

// remove removes a member; p.mu is held.
func (p *Pool) remove(m *Member) {
	a := m.address
	m.address = nil
	a.idle.remove(m)
	p.count(a, -1)
}

// addressOf returns the entry of a client, which it creates if necessary; p.mu is held.
func (p *Pool) addressOf(client netip.Addr) *address {
	key, networkKey := keys(client)
	if a := p.addresses[key]; a != nil {
		return a
	}
	if !networkKey.IsValid() {
		networkKey = key
	}
	n := p.networks[networkKey]
	if n == nil {
		n = &network{key: networkKey, place: outside}
		p.networks[networkKey] = n
	}
	a := &address{key: key, network: n, place: outside}
	p.addresses[key] = a
	return a
}

// count adds more to the number of members of a client, and deletes its entry if the number becomes 0; p.mu is
// held.
func (p *Pool) count(a *address, more int) {
	p.total += more
	a.total += more
	a.network.total += more
	p.fix(a)
	if a.total == 0 {
		delete(p.addresses, a.key)
	}
	if a.network.total == 0 {
		delete(p.networks, a.network.key)
	}
	if more < 0 && p.total == p.limits.Total-1 {
		p.signal()
	}
}

// setEvictable adds m to the heap of its address, ordered by m.seen, or removes it; p.mu is held.
func (p *Pool) setEvictable(m *Member, evictable bool) {
	m.address.idle.set(m, evictable)
	p.fix(m.address)
}

// fix restores the heap order for an address and its network; p.mu is held.
func (p *Pool) fix(a *address) {
	a.network.addresses.set(a, len(a.idle) > 0)
	p.largest.set(a.network, len(a.network.addresses) > 0)
}

// self returns a if one of its members may be evicted, and nil otherwise.
func (a *address) self() *address {
	if len(a.idle) == 0 {
		return nil
	}
	return a
}

// largest returns the address with the most members among those with an evictable member; nil for none.
func (n *network) largest() *address {
	if len(n.addresses) == 0 {
		return nil
	}
	return n.addresses[0]
}

// largestAddress returns the largest address of the largest network; nil for none.
func (p *Pool) largestAddress() *address {
	if len(p.largest) == 0 {
		return nil
	}
	return p.largest[0].largest()
}
