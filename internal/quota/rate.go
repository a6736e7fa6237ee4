package quota

import (
	"net/netip"
	"sync"
	"time"
)

// maxRated limits the table of clients, so that an attacker with many addresses cannot exhaust memory.
const maxRated = 1 << 16

// Rate limits the requests per second of each client, by address and by network. A nil *Rate is unlimited. It
// is safe for concurrent use.
//
// It implements the generic cell rate algorithm (GCRA). For each client it stores one time, the theoretical
// arrival time: a client that sends nothing until then may send a full burst again, like a new client, and
// counts as idle. If the table is full, a new client replaces an idle one, or if there is none the client with
// the earliest time, whose loss grants the smallest burst; other entries are unaffected. A request does not
// update the heap: entries are ordered by the time last read, which is never later than the current one, and
// the order is corrected when an entry is first.
type Rate struct {
	address, network time.Duration // interval between two requests
	burst            time.Duration
	most             int // maximum number of clients in the table
	now              func() time.Time

	mu      sync.Mutex
	clients map[netip.Prefix]*rated
	idle    heap[*rated]
}

// rated is the entry of an address or a network.
type rated struct {
	key   netip.Prefix
	until time.Time // theoretical arrival time: the client is idle from then on
	seen  time.Time // value of until that determines the place in the heap
	place int
}

func (r *rated) before(other *rated) bool { return r.seen.Before(other.seen) }
func (r *rated) at() *int                 { return &r.place }

// NewRate returns a Rate of perSecond requests per second, with bursts of the same number. A network may send
// networkFactor times as many. Numbers below 1 count as 1.
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

// Allow counts a request of a client and reports whether it is within the limit. A request beyond the limit of
// its address does not count for the network, and for a network at its limit no entries of further addresses
// are created. A client without an address is local and unlimited.
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

// count counts a request of an address or a network and reports whether it is within the limit; r.mu is held.
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

// after returns the theoretical arrival time after one more request, and whether the request is within the
// limit; r.mu is held.
func (r *Rate) after(key netip.Prefix, interval time.Duration, now time.Time) (until time.Time, ok bool) {
	until = now
	if c := r.clients[key]; c != nil && c.until.After(now) {
		until = c.until
	}
	until = until.Add(interval)
	return until, until.Sub(now) <= r.burst
}

// add adds the entry of a client, replacing another one if the table is full; r.mu is held.
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

// leastKnown returns the entry of an idle client, or else the one with the earliest time; r.mu is held.
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
