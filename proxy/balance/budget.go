package balance

import (
	"sync"
	"time"
)

const (
	// budgetShare is the number of tokens per request, and budgetFloor the number of tokens per second.
	budgetShare = 0.2
	budgetFloor = 10
	// budgetWindow is the time in which unused tokens drain away.
	budgetWindow = 10 * time.Second
)

// budget is a token bucket; a retry costs one token. Requests and time add tokens, and the bucket leaks: it
// holds at most what the last budgetWindow has added.
type budget struct {
	mu      sync.Mutex
	tokens  float64
	at      time.Time // time of the last call of take
	first   int64     // requests until at, without retries
	granted int64     // retries until at
}

// fill adds the tokens of the first second, so that even the first request may be retried.
func (b *budget) fill(now time.Time) { b.tokens, b.at = budgetFloor, now }

// take takes a token and reports whether there was one. requests is the number of picks so far, including
// retries.
func (b *budget) take(requests int64, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := max(requests-b.granted, b.first)
	added, elapsed := float64(first-b.first), max(now.Sub(b.at), 0)
	if elapsed > budgetWindow { // average the requests over the elapsed time
		added *= budgetWindow.Seconds() / elapsed.Seconds()
		elapsed = budgetWindow
	}
	b.tokens *= 1 - elapsed.Seconds()/budgetWindow.Seconds()
	b.tokens += budgetShare*added + budgetFloor*elapsed.Seconds()
	b.at, b.first = now, first
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	b.granted++
	return true
}
