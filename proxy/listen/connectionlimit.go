package listen

import (
	"net/netip"
	"slices"
	"sync"
)

// ConnectionLimits bounds the connections of clients.
type ConnectionLimits struct {
	Connections       int // at a time
	ClientConnections int // of one client at a time; 0 is no limit
	// Exempt have no limit for one client: proxies, which have many clients.
	Exempt []netip.Prefix
}

// ConnectionLimit counts connections. It is safe for concurrent use, and its limits can
// be changed while it counts.
type ConnectionLimit struct {
	mu      sync.Mutex
	limits  ConnectionLimits
	open    int
	clients map[netip.Addr]int
	changed chan struct{} // closed, and made anew, when there may be room again
}

// NewConnectionLimit returns a ConnectionLimit that has counted nothing.
func NewConnectionLimit(limits ConnectionLimits) *ConnectionLimit {
	return &ConnectionLimit{limits: limits, clients: make(map[netip.Addr]int), changed: make(chan struct{})}
}

// Change takes new limits; connections that are open stay open.
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

// wait returns when there is room, or when done is closed.
func (l *ConnectionLimit) wait(done <-chan struct{}) {
	for {
		l.mu.Lock()
		room, changed := l.open < l.limits.Connections, l.changed
		l.mu.Unlock()
		if room {
			return
		}
		select {
		case <-changed:
		case <-done:
			return
		}
	}
}

// ClientNetwork returns what counts as one client: of IPv6 its network, in which it has
// as many addresses as it likes.
func ClientNetwork(client netip.Addr) netip.Addr {
	if network, err := client.Prefix(64); err == nil && client.Is6() {
		return network.Addr()
	}
	return client
}

// exempts reports whether there is no limit for a client; l.mu is held.
func (l *ConnectionLimit) exempts(client netip.Addr) bool {
	return slices.ContainsFunc(l.limits.Exempt, func(p netip.Prefix) bool { return p.Contains(client) })
}

// enter counts a connection of a client, and reports whether it may stay. A client without
// an address is of this machine.
func (l *ConnectionLimit) enter(client netip.Addr) bool {
	client = ClientNetwork(client)
	l.mu.Lock()
	defer l.mu.Unlock()
	if most := l.limits.ClientConnections; most > 0 && client.IsValid() && l.clients[client] >= most && !l.exempts(client) {
		return false
	}
	l.open++
	l.clients[client]++
	return true
}

func (l *ConnectionLimit) leave(client netip.Addr) {
	client = ClientNetwork(client)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients[client]--; l.clients[client] <= 0 {
		delete(l.clients, client)
	}
	if l.open--; l.open == l.limits.Connections-1 {
		l.signal()
	}
}
