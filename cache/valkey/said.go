package valkey

import (
	"errors"
	"sync"
)

// said is the state reported to Report. The real reason may show later than the first failure: a server that
// restarts closes connections before it rejects the password. So each reason is reported once, until the level
// is usable again.
type said struct {
	mu    sync.Mutex
	isUp  bool
	tells map[string]bool // reasons since the level was last usable; nil while it is usable, or nothing was reported
}

// down records why the level is unusable, and reports whether to report that.
func (s *said) down(why error) bool {
	var e explained
	errors.As(why, &e) // errors without an explanation share the empty text
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tells == nil {
		s.tells = make(map[string]bool)
	}
	s.isUp = false
	isNew := !s.tells[e.what]
	s.tells[e.what] = true
	return isNew
}

// up records that the level is usable, and reports whether to report that.
func (s *said) up() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	isNew := !s.isUp
	s.isUp, s.tells = true, nil
	return isNew
}

func (s *said) isDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tells != nil
}
