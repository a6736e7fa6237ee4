package proxy

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxClients bounds the clients that are remembered.
const maxClients = 1 << 16

// rates bounds the requests of each client a second. It is safe for concurrent use.
type rates struct {
	perSecond int
	now       func() time.Time

	mu      sync.Mutex
	clients map[netip.Prefix]*rate.Limiter
}

func newRates(perSecond int, now func() time.Time) *rates {
	return &rates{perSecond: perSecond, now: now, clients: make(map[netip.Prefix]*rate.Limiter)}
}

// allows reports whether a client may send one request more. A client of IPv6 is a
// network: it has as many addresses as it likes.
func (r *rates) allows(client netip.Addr) bool {
	bits := client.BitLen()
	if client.Is6() {
		bits = 64
	}
	network, err := client.Prefix(bits)
	if err != nil {
		return true // it has no address, and comes from this machine
	}
	now := r.now()
	r.mu.Lock()
	limiter := r.clients[network]
	if limiter == nil {
		r.makeRoom(now)
		limiter = rate.NewLimiter(rate.Limit(r.perSecond), r.perSecond)
		r.clients[network] = limiter
	}
	r.mu.Unlock()
	return limiter.AllowN(now, 1)
}

// makeRoom forgets clients that have sent nothing for a second; and all, where there
// are too many still.
func (r *rates) makeRoom(now time.Time) {
	if len(r.clients) < maxClients {
		return
	}
	for network, limiter := range r.clients {
		if limiter.TokensAt(now) >= float64(r.perSecond) {
			delete(r.clients, network)
		}
	}
	if len(r.clients) == maxClients {
		clear(r.clients)
	}
}
