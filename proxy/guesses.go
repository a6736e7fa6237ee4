package proxy

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
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
	at := accountAt(client, account)
	return !g.known.has(at) || g.rates.left(at) < 1
}

// Wrong records a wrong guess.
func (g *Guesses) Wrong(client netip.Addr, account string) {
	g.rates.allows(client)
	if client.IsValid() {
		g.rates.allows(accountAt(client, account))
	}
}

// Right records that a client has shown what is right for an account.
func (g *Guesses) Right(client netip.Addr, account string) { g.known.add(accountAt(client, account)) }

// accountAt returns a key of an account at an address, which is one of the addresses of rates.
func accountAt(client netip.Addr, account string) netip.Addr {
	sum := sha256.Sum256([]byte(client.String() + " " + account))
	return netip.AddrFrom16([16]byte(sum[:16]))
}

// accounts are those that were right at an address. They are safe for concurrent use.
type accounts struct {
	mu  sync.Mutex
	all map[netip.Addr]bool
}

// maxAccounts bounds the accounts that are remembered.
const maxAccounts = 10_000

func (a *accounts) has(at netip.Addr) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[at]
}

func (a *accounts) add(at netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil || len(a.all) >= maxAccounts {
		a.all = make(map[netip.Addr]bool)
	}
	a.all[at] = true
}
