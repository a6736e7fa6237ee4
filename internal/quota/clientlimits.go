package quota

import (
	"net/netip"
	"sync"
)

// ClientLimits limits the part of a limit that one client may hold, by address and by network, so that no client can
// exhaust the limit. The table contains only clients that hold permits, so its size is bounded by the limit. A
// nil *Clients is unlimited. It is safe for concurrent use.
type ClientLimits struct {
	perAddress, perNetwork int
	busy                   error

	mu   sync.Mutex
	held map[netip.Prefix]int
}

// NewClientLimits returns Clients with these limits. busy is the error for a client at its limit.
func NewClientLimits(perAddress, perNetwork int, busy error) *ClientLimits {
	return &ClientLimits{perAddress: perAddress, perNetwork: perNetwork, busy: busy, held: make(map[netip.Prefix]int)}
}

// Bounds returns the limits of an address and of a network.
func (c *ClientLimits) Bounds() (perAddress, perNetwork int) { return c.perAddress, c.perNetwork }

// Acquire takes a permit for a client without waiting or allocating; the zero value of a client is unlimited.
// Unless it returns an error, the caller must release the permit.
func (c *ClientLimits) Acquire(client netip.Addr) (Permit, error) { return c.acquire(client, 1) }

func (c *ClientLimits) acquire(client netip.Addr, units int) (Permit, error) {
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

func (c *ClientLimits) release(client netip.Addr, units int) {
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

// remove subtracts units from a key; c.mu is held.
func (c *ClientLimits) remove(key netip.Prefix, units int) {
	if c.held[key] -= units; c.held[key] <= 0 {
		delete(c.held, key)
	}
}
