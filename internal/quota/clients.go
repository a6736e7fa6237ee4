package quota

import (
	"net/netip"
	"sync"
)

// Clients bounds how much of a limit one client holds, so that none can take all of it: an address, and the addresses
// of a network together. What a client holds is all that is known of it, so who holds nothing is not in the table, and
// the table is as large as the limit. A nil *Clients bounds nothing. It is safe for concurrent use.
type Clients struct {
	perAddress, perNetwork int
	busy                   error

	mu   sync.Mutex
	held map[netip.Prefix]int
}

// NewClients returns Clients that bound an address and a network. busy is the error for a client that has as much.
func NewClients(perAddress, perNetwork int, busy error) *Clients {
	return &Clients{perAddress: perAddress, perNetwork: perNetwork, busy: busy, held: make(map[netip.Prefix]int)}
}

// Bounds returns how much an address may have, and a network.
func (c *Clients) Bounds() (perAddress, perNetwork int) { return c.perAddress, c.perNetwork }

// Acquire takes a permit for a client without waiting or allocating; the zero value of a client has no bound. The caller
// must release the permit, unless there is an error.
func (c *Clients) Acquire(client netip.Addr) (Permit, error) { return c.acquire(client, 1) }

func (c *Clients) acquire(client netip.Addr, units int) (Permit, error) {
	if c == nil || !client.IsValid() {
		return Permit{units: units}, nil
	}
	address, network := keys(client)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[address]+units > c.perAddress || network.IsValid() && c.held[network]+units > c.perNetwork {
		return Permit{}, c.busy
	}
	c.held[address] += units
	if network.IsValid() {
		c.held[network] += units
	}
	return Permit{clients: c, client: client, units: units}, nil
}

func (c *Clients) release(client netip.Addr, units int) {
	if c == nil {
		return
	}
	address, network := keys(client)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(address, units)
	if network.IsValid() {
		c.remove(network, units)
	}
}

// remove takes from what a key holds; c.mu is held.
func (c *Clients) remove(key netip.Prefix, units int) {
	if c.held[key] -= units; c.held[key] <= 0 {
		delete(c.held, key)
	}
}
