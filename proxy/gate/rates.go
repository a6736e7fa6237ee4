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

// rates limits the requests per second of each client: of IPv6 an address, and the addresses of a /64 network, any number of
// which one host may have, have more together. It is safe for concurrent use.
type rates struct {
	perSecond, burst int
	factor           int // of what a network has
	now              func() time.Time

	mu      sync.Mutex
	clients map[netip.Prefix]*rate.Limiter
	swept   time.Time
}

func newRates(perSecond, burst, factor int, now func() time.Time) *rates {
	return &rates{perSecond: perSecond, burst: burst, factor: factor, now: now, clients: make(map[netip.Prefix]*rate.Limiter)}
}

// allows reports whether a client may send one more request. What its address may not send takes nothing from its network,
// and a network that may send nothing has no more addresses remembered.
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

// left returns how many requests a client may send now.
func (r *rates) left(client netip.Addr) float64 {
	now := r.now()
	left := r.leftOf(netip.PrefixFrom(client, client.BitLen()), r.burst, now)
	if network, has := resolver.ClientNetwork(client); has {
		left = min(left, r.leftOf(network, r.burst*r.factor, now))
	}
	return left
}

func (r *rates) leftOf(client netip.Prefix, burst int, now time.Time) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if limiter := r.clients[client]; limiter != nil {
		return limiter.TokensAt(now)
	}
	return float64(burst)
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

// makeRoom removes clients that have sent nothing for a second, and all where there are
// still too many. It scans them once a second at most.
func (r *rates) makeRoom(now time.Time) {
	if len(r.clients) < maxClients {
		return
	}
	if now.Sub(r.swept) >= time.Second || now.Before(r.swept) {
		r.swept = now
		for client, limiter := range r.clients {
			if limiter.TokensAt(now) >= float64(limiter.Burst()) {
				delete(r.clients, client)
			}
		}
	}
	if len(r.clients) >= maxClients {
		clear(r.clients)
	}
}
