package listen

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// ConnectionLimits bounds the connections of clients.
type ConnectionLimits struct {
	Connections       int // in total
	ClientConnections int // of one address; 0 is no limit
	// NetworkConnections bounds those of all addresses of a /64 network of IPv6; 0 is no limit.
	NetworkConnections int
	// Exempt are clients without a limit of their own: proxies, which have many clients.
	Exempt []netip.Prefix
}

// ConnectionLimit counts connections, and enforces limits that can be changed. Where a limit is reached, the connection
// that has waited longest for a request, of who has most of them, is closed for a new one. It is safe for concurrent use.
type ConnectionLimit struct {
	now   func() time.Time
	start time.Time

	mu       sync.Mutex
	limits   ConnectionLimits
	open     int
	clients  map[netip.Addr]*address
	networks map[netip.Addr]*network
	largest  queue[*network] // those of which a connection may be closed
	changed  chan struct{}   // closed and replaced when a connection may be accepted again
}

// NewConnectionLimit returns a ConnectionLimit without connections.
func NewConnectionLimit(limits ConnectionLimits, now func() time.Time) *ConnectionLimit {
	return &ConnectionLimit{
		now: now, start: now(), limits: limits, changed: make(chan struct{}),
		clients: make(map[netip.Addr]*address), networks: make(map[netip.Addr]*network),
	}
}

// Change sets new limits; open connections stay open.
func (l *ConnectionLimit) Change(limits ConnectionLimits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limits = limits
	l.signal()
}

// Open returns the number of connections.
func (l *ConnectionLimit) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *ConnectionLimit) signal() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// clientNetwork returns the address that stands for the network of a client: of IPv6 its /64, in which one host may have
// any number of addresses, and else the client itself.
func clientNetwork(client netip.Addr) netip.Addr {
	if !client.Is6() || client.Is4In6() {
		return client
	}
	prefix, err := client.Prefix(64)
	if err != nil {
		return client
	}
	return prefix.Addr()
}

// exempts reports whether there is no limit for a client; l.mu is held.
func (l *ConnectionLimit) exempts(client netip.Addr) bool {
	return slices.ContainsFunc(l.limits.Exempt, func(p netip.Prefix) bool { return p.Contains(client) })
}

// acquire counts a connection of a client, and waits until there is room for it in total, or until done is closed. It
// returns nil where the client, or its network, has too many connections that are in use. A client without an address
// is on this machine.
func (l *ConnectionLimit) acquire(client netip.Addr, conn wakeable, done <-chan struct{}) *counted {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if !l.makeShare(client) {
			return nil
		}
		if l.makeRoom() || !l.await(done) {
			h := &counted{limit: l, conn: conn, place: outside}
			h.since.Store(l.clock())
			l.add(h, client)
			return h
		}
	}
}

// makeShare reports whether a client may have one more connection, for which it closes one; l.mu is held.
func (l *ConnectionLimit) makeShare(client netip.Addr) bool {
	if !client.IsValid() || l.exempts(client) {
		return true
	}
	if a := l.clients[client]; a != nil && l.limits.ClientConnections > 0 && a.open >= l.limits.ClientConnections && !l.evict(a.self) {
		return false
	}
	n := l.networks[clientNetwork(client)]
	if n == nil || !client.Is6() || client.Is4In6() {
		return true
	}
	return l.limits.NetworkConnections == 0 || n.open < l.limits.NetworkConnections || l.evict(n.largestAddress)
}

// makeRoom reports whether the total is below its limit, for which it closes connections; l.mu is held.
func (l *ConnectionLimit) makeRoom() bool {
	for l.open >= l.limits.Connections {
		if !l.evict(l.largestAddress) {
			return false
		}
	}
	return true
}

// again is how long it takes to notice that a connection with a part of a TLS record waits again: nothing tells.
const again = time.Second

// await returns when a connection has ended or waits, and false when done is closed; l.mu is held, but while it waits.
func (l *ConnectionLimit) await(done <-chan struct{}) bool {
	changed := l.changed
	l.mu.Unlock()
	defer l.mu.Lock()
	timer := time.NewTimer(again)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-done:
		return false
	}
	return true
}

// move counts a connection as that of another client, which is known only now. It returns false where that has too many
// that are in use.
func (l *ConnectionLimit) move(h *counted, client netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.address == nil || h.address.key == client {
		return true
	}
	if !l.makeShare(client) {
		return false
	}
	if h.address != nil { // it was not the one that was closed
		l.remove(h)
		l.add(h, client)
	}
	return true
}

// release is called when a connection has ended.
func (l *ConnectionLimit) release(h *counted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.address != nil {
		l.remove(h)
	}
}
