package proxy

import (
	"net/netip"
	"time"
)

// Guesses slow down who guesses passwords or tokens: a client may send maxGuesses wrong ones at
// once, and then one a second, and the addresses of a /64 network of IPv6 networkGuesses times as many together. They are
// safe for concurrent use.
type Guesses struct {
	rates *rates
}

// maxGuesses is how many wrong passwords a client may send at once.
const maxGuesses = 10

const networkGuesses = 2

// NewGuesses returns Guesses of no client.
func NewGuesses(now func() time.Time) *Guesses {
	return &Guesses{newRates(1, maxGuesses, networkGuesses, now)}
}

// Stopped reports whether what a client sends is not even looked at.
func (g *Guesses) Stopped(client netip.Addr) bool { return g.rates.left(client) < 1 }

// Wrong records a wrong guess.
func (g *Guesses) Wrong(client netip.Addr) { g.rates.allows(client) }
