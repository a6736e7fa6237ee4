package listen

import (
	"net/netip"
	"slices"
	"sync"
)

// ConnectionLimits bounds the connections of clients.
type ConnectionLimits struct {
	Connections       int // in total
	ClientConnections int // of one client; 0 is no limit
	// Exempt are clients without a limit of their own: proxies, which have many clients.
	Exempt []netip.Prefix
}

// ConnectionLimit counts connections, and enforces limits that can be changed. It is safe
// for concurrent use.
type ConnectionLimit struct {
	mu      sync.Mutex
	limits  ConnectionLimits
	open    int
	clients map[netip.Addr]int
	changed chan struct{} // closed and replaced when a connection may be accepted again
}

// NewConnectionLimit returns a ConnectionLimit without connections.
func NewConnectionLimit(limits ConnectionLimits) *ConnectionLimit {
	return &ConnectionLimit{limits: limits, clients: make(map[netip.Addr]int), changed: make(chan struct{})}
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

// wait returns when the total is below its limit, or when done is closed.
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

// ClientNetwork returns the address that counts as one client: of IPv6 its /64 network, in
// which a client may have any number of addresses.
func ClientNetwork(client netip.Addr) netip.Addr {
	if !client.Is6() || client.Is4In6() {
		return client
	}
	network, err := client.Prefix(64)
	if err != nil {
		return client
	}
	return network.Addr()
}

// exempts reports whether there is no limit for a client; l.mu is held.
func (l *ConnectionLimit) exempts(client netip.Addr) bool {
	return slices.ContainsFunc(l.limits.Exempt, func(p netip.Prefix) bool { return p.Contains(client) })
}

// acquire counts a connection of a client, and returns false where the client has too many.
// A client without an address is on this machine.
func (l *ConnectionLimit) acquire(client netip.Addr) bool {
	client = ClientNetwork(client)
	l.mu.Lock()
	defer l.mu.Unlock()
	if perClient := l.limits.ClientConnections; perClient > 0 && client.IsValid() && l.clients[client] >= perClient && !l.exempts(client) {
		return false
	}
	l.open++
	l.clients[client]++
	return true
}

func (l *ConnectionLimit) release(client netip.Addr) {
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
