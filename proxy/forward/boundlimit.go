package forward

import (
	"errors"
	"net/netip"
	"sync"

	"github.com/urnd/urnd/internal/quota"
)

// boundConns are the connections to servers that are bound to clients. At the limit, idle ones are closed in
// favor of new ones: otherwise a client that leaves them idle could lock out all others that log in this way.
// The zero value has none. It is safe for concurrent use.
type boundConns struct {
	mu   sync.Mutex
	uses uint64
	all  map[*bound]boundUse
}

// boundUse has the client of a connection, as quota.Network returns it, and its last use.
type boundUse struct {
	client netip.Addr
	last   uint64 // the value of boundConns.uses at that use
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
	if b.Ended() { // remove was called before
		delete(c.all, b)
	}
}

func (c *boundConns) remove(b *bound) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, b)
}

// longestIdle returns the connection of a client that has been idle longest, or if client is invalid, that of
// the client with the most idle connections; nil for none.
func (c *boundConns) longestIdle(client netip.Addr) (longest *bound) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := make(map[netip.Addr]int)
	idle := make(map[*bound]boundUse)
	for b, use := range c.all {
		if b.Idle() && (!client.IsValid() || use.client == client) {
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

// acquireBound acquires a permit for a connection bound to a client. At the limit it closes the connection
// that has been idle longest: one of the client itself if it is at its own limit, else one of the client with
// the most idle ones.
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
