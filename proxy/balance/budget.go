package balance

import (
	"sync"
	"time"
)

const (
	// budgetShare is the part of the requests that may be retries, and budgetFloor how many a second are besides.
	budgetShare = 0.2
	budgetFloor = 10
	// budgetWindow is the time in which a token that is not used drains away.
	budgetWindow = 10 * time.Second
)

// budget is a bucket of tokens, one a retry. Requests and time fill it, and it leaks: it holds no more than what the
// last budgetWindow has earned.
type budget struct {
	mu      sync.Mutex
	tokens  float64
	at      time.Time // of the last call of take
	first   int64     // requests until then, without their retries
	granted int64     // retries until then
}

// fill fills the bucket for the first second: also the first request may be tried again.
func (b *budget) fill(now time.Time) { b.tokens, b.at = budgetFloor, now }

// take takes a token, if there is one. requests is how many servers were picked so far, for retries too.
func (b *budget) take(requests int64, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := max(requests-b.granted, b.first)
	added, elapsed := float64(first-b.first), max(now.Sub(b.at), 0)
	if elapsed > budgetWindow { // of a longer time, the average counts
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
