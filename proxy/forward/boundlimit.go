package forward

import (
	"errors"
	"net/netip"
	"sync"

	"github.com/urnd/urnd/internal/quota"
)

// boundConns are the connections to servers that belong to clients. Those that wait for a request make room for others,
// or whoever leaves them idle would lock out all who log in so. The zero value has none. It is safe for concurrent use.
type boundConns struct {
	mu   sync.Mutex
	uses uint64
	all  map[*bound]boundUse
}

// boundUse is whose a connection is, as quota.Network has it, and when it was used last.
type boundUse struct {
	client netip.Addr
	last   uint64 // use of any of them
}

// use records that a request of a client uses a connection.
func (c *boundConns) use(b *bound, client netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[*bound]boundUse)
	}
	c.uses++
	c.all[b] = boundUse{quota.Network(client), c.uses}
	if b.IsOver() { // remove came before
		delete(c.all, b)
	}
}

func (c *boundConns) remove(b *bound) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, b)
}

// longestIdle returns the connection that has waited longest of those of a client, where that is valid, or else of the
// client that has most of them waiting; nil for none.
func (c *boundConns) longestIdle(client netip.Addr) (longest *bound) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := make(map[netip.Addr]int)
	idle := make(map[*bound]boundUse)
	for b, use := range c.all {
		if b.IsIdle() && (!client.IsValid() || use.client == client) {
			idle[b] = use
			waiting[use.client]++
		}
	}
	for b, use := range idle {
		more := 1
		if longest != nil {
			more = waiting[use.client] - waiting[idle[longest].client]
		}
		if more > 0 || more == 0 && use.last < idle[longest].last {
			longest = b
		}
	}
	return longest
}

// acquireBound takes a permit for a connection that belongs to a client. Where there is none, the connection that has been idle
// longest ends: of the client itself where it has as much as it may, and else of whoever has most.
func (p *Proxy) acquireBound(client netip.Addr) (release func(), err error) {
	for {
		permit, err := p.config.Bound.Acquire(client)
		if err == nil {
			return permit.Release, nil
		}
		var whose netip.Addr
		if client.IsValid() && !errors.Is(err, p.config.Bound.Busy) {
			whose = quota.Network(client)
		}
		longest := p.boundConns.longestIdle(whose)
		if longest == nil {
			return nil, err
		}
		longest.End()
	}
}
