package quota

import (
	"net/netip"
	"sync"
	"time"
)

// maxRated bounds the clients whose rate is measured, so that addresses of which an attacker has many take no memory.
const maxRated = 1 << 16

// Rate bounds how many requests each client sends in a second, an address and the addresses of a network together. A nil
// *Rate bounds nothing. It is safe for concurrent use.
//
// It is the generic cell rate algorithm: of each client it has one time, at which a client that sends nothing until then
// may send a whole burst again, as one that was never seen. So a client is idle from that time on. Where a new client has
// no place, an idle one loses its own as long as there is any, and else the one with the earliest time, of which least is
// known. What is known of others stays. A request does not move its client in the heap that finds it: clients have their
// place by the time that was seen last, which is never later than their own, and are put right when their turn comes.
type Rate struct {
	address, network time.Duration // between two requests
	burst            time.Duration
	most             int // clients that are remembered
	now              func() time.Time

	mu      sync.Mutex
	clients map[netip.Prefix]*rated
	idle    heap[*rated]
}

// rated is what is known of an address or of a network.
type rated struct {
	key   netip.Prefix
	until time.Time // it is idle from then on
	seen  time.Time // until, when it was put in order
	place int
}

func (r *rated) before(other *rated) bool { return r.seen.Before(other.seen) }
func (r *rated) at() *int                 { return &r.place }

// NewRate returns a Rate of so many requests a second, all of which may come in one batch. A network may send networkFactor
// times as many. All numbers are at least 1.
func NewRate(perSecond, networkFactor int, now func() time.Time) *Rate {
	perSecond, networkFactor = max(perSecond, 1), max(networkFactor, 1)
	return &Rate{
		address: time.Second / time.Duration(perSecond),
		network: time.Second / time.Duration(perSecond*networkFactor),
		burst:   time.Second,
		most:    maxRated,
		now:     now,
		clients: make(map[netip.Prefix]*rated),
	}
}

// Allow counts one more request of a client, and reports whether it may send it. What an address may not send is not
// counted for its network, and of a network that may send nothing no further addresses are remembered. A client without an
// address is on this machine, and not bounded.
func (r *Rate) Allow(client netip.Addr) bool {
	if r == nil || !client.IsValid() {
		return true
	}
	now := r.now()
	address, network := keys(client)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !network.IsValid() {
		return r.count(address, r.address, now)
	}
	_, ok := r.after(network, r.network, now)
	return ok && r.count(address, r.address, now) && r.count(network, r.network, now)
}

// count counts a request of an address or a network, and reports whether it may send it; r.mu is held.
func (r *Rate) count(key netip.Prefix, interval time.Duration, now time.Time) bool {
	until, ok := r.after(key, interval, now)
	if !ok {
		return false
	}
	if c := r.clients[key]; c != nil {
		c.until = until
	} else {
		r.add(key, until, now)
	}
	return true
}

// after returns from when on a client would be idle after one more request, and whether it may send that; r.mu is held.
func (r *Rate) after(key netip.Prefix, interval time.Duration, now time.Time) (until time.Time, ok bool) {
	until = now
	if c := r.clients[key]; c != nil && c.until.After(now) {
		until = c.until
	}
	until = until.Add(interval)
	return until, until.Sub(now) <= r.burst
}

// add remembers a client, in the place of another one where there are too many; r.mu is held.
func (r *Rate) add(key netip.Prefix, until, now time.Time) {
	c := &rated{place: outside}
	if len(r.clients) >= r.most {
		c = r.leastKnown(now)
		delete(r.clients, c.key)
	}
	c.key, c.until, c.seen = key, until, until
	r.clients[key] = c
	r.idle.fix(c)
}

// leastKnown returns a client that is idle, or else the one that is so first; r.mu is held.
func (r *Rate) leastKnown(now time.Time) *rated {
	for {
		c := r.idle[0]
		if c.seen.Equal(c.until) || !c.until.After(now) {
			return c
		}
		c.seen = c.until
		r.idle.fix(c)
	}
}
