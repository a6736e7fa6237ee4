package valkey

import (
	"errors"
	"sync"
)

// statusReporter is the state reported to Report. The real reason may show later than the first failure: a server that
// restarts closes connections before it rejects the password. So each reason is reported once, until the level
// is usable again.
type statusReporter struct {
	mu       sync.Mutex
	up       bool
	reported map[string]bool // reasons since the level was last usable; nil while it is usable, or nothing was reported
}

// setDown records why the level is unusable, and reports whether to report that.
func (s *statusReporter) setDown(why error) bool {
	var e explained
	errors.As(why, &e) // errors without an explanation share the empty text
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reported == nil {
		s.reported = make(map[string]bool)
	}
	s.up = false
	isNew := !s.reported[e.what]
	s.reported[e.what] = true
	return isNew
}

// setUp records that the level is usable, and reports whether to report that.
func (s *statusReporter) setUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	isNew := !s.up
	s.up, s.reported = true, nil
	return isNew
}

func (s *statusReporter) isDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reported != nil
}
