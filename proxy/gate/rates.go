package gate

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/urnd/urnd/resolver"
)

// maxClients bounds the clients whose rate is measured.
const maxClients = 1 << 16

// rates limits the requests per second of each client: of IPv6 an address, and the addresses of a /64 network, any
// number of which one host may have, have more together. It is safe for concurrent use.
type rates struct {
	perSecond, burst int
	factor           int // of what a network has
	now              func() time.Time

	mu      sync.Mutex
	clients map[netip.Prefix]*rate.Limiter
}

func newRates(perSecond, burst, factor int, now func() time.Time) *rates {
	return &rates{
		perSecond: perSecond, burst: burst, factor: factor, now: now,
		clients: make(map[netip.Prefix]*rate.Limiter),
	}
}

// allows reports whether a client may send one more request. What its address may not send takes nothing from its
// network, and a network that may send nothing has no more addresses remembered.
func (r *rates) allows(client netip.Addr) bool {
	if !client.IsValid() {
		return true // it has no address, and comes from this machine
	}
	now := r.now()
	address := netip.PrefixFrom(client, client.BitLen())
	network, has := resolver.ClientNetwork(client)
	if !has {
		return r.of(address, 1, now).AllowN(now, 1)
	}
	together := r.of(network, r.factor, now)
	return together.TokensAt(now) >= 1 && r.of(address, 1, now).AllowN(now, 1) && together.AllowN(now, 1)
}

// of returns the limiter of a client, with so many times the rate.
func (r *rates) of(client netip.Prefix, times int, now time.Time) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	limiter := r.clients[client]
	if limiter == nil {
		r.makeRoom(now)
		limiter = rate.NewLimiter(rate.Limit(r.perSecond*times), r.burst*times)
		r.clients[client] = limiter
	}
	return limiter
}

// makeRoom removes a client where there are too many: of some of them the one that may send most now, which is that
// of which least is known.
func (r *rates) makeRoom(now time.Time) {
	const some = 8
	if len(r.clients) < maxClients {
		return
	}
	var least netip.Prefix
	seen, left := 0, -1.0
	for client, limiter := range r.clients { // from a random one on
		if share := limiter.TokensAt(now) / float64(limiter.Burst()); share > left {
			least, left = client, share
		}
		if seen++; seen == some {
			break
		}
	}
	delete(r.clients, least)
}
