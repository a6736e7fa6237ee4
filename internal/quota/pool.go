package quota

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// PoolLimits bounds what is in a Pool.
type PoolLimits struct {
	Total      int
	PerAddress int // 0 is no bound
	PerNetwork int // of all addresses of a /64 network of IPv6; 0 is no bound
	// Exempt are clients without a bound of their own: proxies, which have many clients.
	Exempt []netip.Prefix
}

// Pool bounds things that clients hold and may leave idle, such as connections. Where a limit is reached, the one that has
// been idle longest is evicted for a new one: of the client itself where that has too many, and else of the address that
// has most in the network that has most. What is in use is never evicted. It is safe for concurrent use.
//
// Eviction heaps find the one to be evicted in logarithmic time: networks by how much they have, in each its addresses
// likewise, and of each address its members that may be idle, by since when. Use costs no lock: a member has its place by
// what was seen of it last, and is put right when its turn comes. One that is in use then is in no heap until it is idle
// again (Member.Idle).
type Pool struct {
	now   func() time.Time
	start time.Time

	mu        sync.Mutex
	limits    PoolLimits
	total     int
	addresses map[netip.Prefix]*address
	networks  map[netip.Prefix]*network
	largest   heap[*network] // those that have a member which may be evicted
	changed   chan struct{}  // closed and replaced when there may be room
}

// address is a client, and network its network or, without IPv6, the client alone. They are in the tables as long as they
// have members, so that the tables are as large as the pool.
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

// NewPool returns a Pool without members.
func NewPool(limits PoolLimits, now func() time.Time) *Pool {
	return &Pool{
		now: now, start: now(), limits: limits, changed: make(chan struct{}),
		addresses: make(map[netip.Prefix]*address), networks: make(map[netip.Prefix]*network),
	}
}

// Change sets new limits. What is in the pool stays.
func (p *Pool) Change(limits PoolLimits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits = limits
	p.signal()
}

// Len returns how many members there are.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}

// Idle returns how many of them are idle.
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

// Add makes what a client holds a member, which is idle, and waits until there is room for it, or until done is closed. It
// returns nil where the client, or its network, has too much that is in use. A client without an address is on this
// machine, and has no bound of its own.
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

// makeClientRoom reports whether a client may have one more, for which it loses one; p.mu is held.
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

// makeRoom reports whether the total is below its limit, for which it evicts members; p.mu is held.
func (p *Pool) makeRoom() bool {
	for p.total >= p.limits.Total {
		if !p.evict(p.largestAddress) {
			return false
		}
	}
	return true
}

// recheck is how often members are looked at where all are in use: one that could be evicted, but for input that had come,
// may be idle again, which is not reported.
const recheck = time.Second

// await returns when there may be room, and false when done is closed; p.mu is held, but while it waits.
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

// signal wakes all that wait; p.mu is held.
func (p *Pool) signal() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// evict evicts the member that has been idle longest of the address that next returns, until that is nil, and reports
// whether there was one; p.mu is held.
func (p *Pool) evict(next func() *address) bool {
	var unread []*Member // they have input, and are about to be in use
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

// insert adds a member of a client; p.mu is held.
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

// addressOf returns what is known of a client; p.mu is held.
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

// count changes how many members a client has, who is forgotten where it has none; p.mu is held.
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

// setEvictable says whether a member may be evicted, as what was seen of it last; p.mu is held.
func (p *Pool) setEvictable(m *Member, evictable bool) {
	m.address.idle.set(m, evictable)
	p.fix(m.address)
}

// fix puts an address and its network in order; p.mu is held.
func (p *Pool) fix(a *address) {
	a.network.addresses.set(a, len(a.idle) > 0)
	p.largest.set(a.network, len(a.network.addresses) > 0)
}

// self returns the address itself where one of its members may be evicted, and nil otherwise.
func (a *address) self() *address {
	if len(a.idle) == 0 {
		return nil
	}
	return a
}

// largest returns the address with most members, of those one of which may be evicted; nil for none.
func (n *network) largest() *address {
	if len(n.addresses) == 0 {
		return nil
	}
	return n.addresses[0]
}

// largestAddress returns that of the largest network.
func (p *Pool) largestAddress() *address {
	if len(p.largest) == 0 {
		return nil
	}
	return p.largest[0].largest()
}
