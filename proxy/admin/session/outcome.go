package session

import (
	"crypto/rand"
	"time"
)

// Limits of outcomes.
const (
	maxOutcomes = 1000
	outcomeTime = 5 * time.Minute
)

// outcome is the result of a form, until the next page has shown it.
type outcome struct {
	cookie string
	text   string
	made   time.Time
}

// KeepOutcome stores the result of a form for the next page in the same browser, and returns its identifier.
// It is stored in memory only, since it may contain a token.
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

// Outcome returns a stored outcome of a browser, "" for none.
func (s *Sessions) Outcome(cookie, id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.outcomes[id]
	if !ok || cookie == "" || o.cookie != cookie || s.now().Sub(o.made) >= outcomeTime {
		return ""
	}
	return o.text
}

// RemoveOutcome removes an outcome that Outcome has returned and a page has shown: a reload of the page does not
// show it again.
func (s *Sessions) RemoveOutcome(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.outcomes, id)
}
