package proxy

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/urnd/urnd/proxy/listen"
)

// maxClients bounds the clients whose rate is measured.
const maxClients = 1 << 16

// rates limits the requests per second of each client. It is safe for concurrent use.
type rates struct {
	perSecond, burst int
	now              func() time.Time

	mu      sync.Mutex
	clients map[netip.Addr]*rate.Limiter
	swept   time.Time
}

func newRates(perSecond, burst int, now func() time.Time) *rates {
	return &rates{perSecond: perSecond, burst: burst, now: now, clients: make(map[netip.Addr]*rate.Limiter)}
}

// allows reports whether a client may send one more request. A client of IPv6 is its /64
// network, in which it may have any number of addresses.
func (r *rates) allows(client netip.Addr) bool {
	if !client.IsValid() {
		return true // it has no address, and comes from this machine
	}
	now := r.now()
	return r.of(client, now).AllowN(now, 1)
}

// left returns how many requests a client may send now.
func (r *rates) left(client netip.Addr) float64 {
	if !client.IsValid() {
		return float64(r.burst)
	}
	now := r.now()
	return r.of(client, now).TokensAt(now)
}

// of returns the limiter of a client.
func (r *rates) of(client netip.Addr, now time.Time) *rate.Limiter {
	client = listen.ClientNetwork(client)
	r.mu.Lock()
	defer r.mu.Unlock()
	limiter := r.clients[client]
	if limiter == nil {
		r.makeRoom(now)
		limiter = rate.NewLimiter(rate.Limit(r.perSecond), r.burst)
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
			if limiter.TokensAt(now) >= float64(r.burst) {
				delete(r.clients, client)
			}
		}
	}
	if len(r.clients) >= maxClients {
		clear(r.clients)
	}
}
