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
	perSecond int
	now       func() time.Time

	mu      sync.Mutex
	clients map[netip.Addr]*rate.Limiter
	swept   time.Time
}

func newRates(perSecond int, now func() time.Time) *rates {
	return &rates{perSecond: perSecond, now: now, clients: make(map[netip.Addr]*rate.Limiter)}
}

// allows reports whether a client may send one more request. A client of IPv6 is its /64
// network, in which it may have any number of addresses.
func (r *rates) allows(client netip.Addr) bool {
	if !client.IsValid() {
		return true // it has no address, and comes from this machine
	}
	client = listen.ClientNetwork(client)
	now := r.now()
	r.mu.Lock()
	limiter := r.clients[client]
	if limiter == nil {
		r.makeRoom(now)
		limiter = rate.NewLimiter(rate.Limit(r.perSecond), r.perSecond)
		r.clients[client] = limiter
	}
	r.mu.Unlock()
	return limiter.AllowN(now, 1)
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
			if limiter.TokensAt(now) >= float64(r.perSecond) {
				delete(r.clients, client)
			}
		}
	}
	if len(r.clients) >= maxClients {
		clear(r.clients)
	}
}
