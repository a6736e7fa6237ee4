package session

import (
	"crypto/rand"
	"time"
)

// Bounds of outcomes.
const (
	maxOutcomes = 1000
	outcomeTime = 5 * time.Minute
)

// outcome is what was done by a form, until the page after it has shown it.
type outcome struct {
	cookie string
	text   string
	made   time.Time
}

// KeepOutcome keeps what was done by a form for the page after it, in the same browser, and returns its identifier. It is in memory alone: it
// may be a token.
func (s *Sessions) KeepOutcome(cookie string, text string) (id string) {
	id, now := rand.Text(), s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest, at := "", now.Add(1)
	for id, o := range s.outcomes {
		if now.Sub(o.made) >= outcomeTime {
			delete(s.outcomes, id)
		} else if o.made.Before(at) {
			oldest, at = id, o.made
		}
	}
	if len(s.outcomes) >= maxOutcomes {
		delete(s.outcomes, oldest)
	}
	s.outcomes[id] = outcome{cookie, text, now}
	return id
}

// TakeOutcome returns what was kept for a browser, "" for nothing. It returns it once: a page that is loaded again does not say it.
func (s *Sessions) TakeOutcome(cookie, id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.outcomes[id]
	if !ok || cookie == "" || o.cookie != cookie || s.now().Sub(o.made) >= outcomeTime {
		return ""
	}
	delete(s.outcomes, id)
	return o.text
}
