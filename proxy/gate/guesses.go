package gate

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver"
)

// Guesses slow down who guesses passwords or tokens: a client may send maxGuesses wrong ones at
// once, and then one a second, and the addresses of a /64 network of IPv6 networkGuesses times as many together. They are
// safe for concurrent use.
type Guesses struct {
	rates *rates
	known accounts
}

// maxGuesses is how many wrong passwords a client may send at once.
const maxGuesses = 10

const networkGuesses = 2

// NewGuesses returns Guesses of no client.
func NewGuesses(now func() time.Time) *Guesses {
	return &Guesses{rates: newRates(1, maxGuesses, networkGuesses, now)}
}

// Stopped reports whether what a client sends for an account is not even looked at. What others guess at its address does not stop
// an account that was right there before, but guesses of that account do.
func (g *Guesses) Stopped(client netip.Addr, account string) bool {
	if g.rates.left(client) >= 1 {
		return false
	}
	return !g.known.has(client, account) || g.rates.left(accountAt(client, account)) < 1
}

// Wrong records a wrong guess. It returns false where the client may not learn that it was wrong: of guesses that are compared at
// the same time, too, it may send no more than one by one.
func (g *Guesses) Wrong(client netip.Addr, account string) bool {
	isAllowed := g.rates.allows(client)
	if !client.IsValid() {
		return true
	}
	at := accountAt(client, account)
	return g.rates.allows(at) && g.known.has(client, account) || isAllowed
}

// Right records that a client has shown what is right for an account. It returns false where the client may not learn that
// either: others of its guesses, which were compared at the same time, were wrong.
func (g *Guesses) Right(client netip.Addr, account string) bool {
	if g.Stopped(client, account) {
		return false
	}
	g.known.add(client, account)
	return true
}

// accountAt returns a key of an account at an address, which is one of the addresses of rates.
func accountAt(client netip.Addr, account string) netip.Addr {
	sum := sha256.Sum256([]byte(client.String() + " " + account))
	return netip.AddrFrom16([16]byte(sum[:16]))
}

// accounts are those that were right, and the address where each was so last: one in each network, or a host with many
// addresses would fill them. They are safe for concurrent use.
type accounts struct {
	mu  sync.Mutex
	all map[netip.Addr]netip.Addr // by accountAt of the network
}

// maxAccounts bounds the accounts that are remembered.
const maxAccounts = 10_000

func (a *accounts) has(client netip.Addr, account string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.all[accountAt(resolver.ClientAddress(client), account)]
	return ok && at == client
}

// add remembers an account, in place of any other one where there are too many.
func (a *accounts) add(client netip.Addr, account string) {
	key := accountAt(resolver.ClientAddress(client), account)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = make(map[netip.Addr]netip.Addr)
	}
	if _, ok := a.all[key]; !ok && len(a.all) >= maxAccounts {
		for other := range a.all {
			delete(a.all, other)
			break
		}
	}
	a.all[key] = client
}
