package valkey

import (
	"errors"
	"sync"
)

// said is what Report was told. What is wrong may show later than that something is: a server that restarts ends connections before it refuses
// the password. So each reason is told once, until the level is used again.
type said struct {
	mu    sync.Mutex
	isUp  bool
	tells map[string]bool // the reasons since then; nil where it is used, or nothing was told
}

// down notes why the level is not used, and reports whether that is to be told.
func (s *said) down(why error) bool {
	var e explained
	errors.As(why, &e) // without one, what is empty stands for all that have none
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

// up notes that the level is used, and reports whether that is to be told.
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
