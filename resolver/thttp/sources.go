package thttp

import (
	"sync"

	"github.com/urnd/urnd/resolver"
)

// maxSources bounds the servers that are remembered by name.
const maxSources = 1000

// sources makes one Source of each server, which all its answers share. The zero
// value is ready, and safe for concurrent use.
type sources struct {
	mu     sync.Mutex
	byBase map[string]*resolver.Source
}

func (s *sources) of(base string) *resolver.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.byBase[base]; known != nil {
		return known
	}
	if s.byBase == nil || len(s.byBase) == maxSources {
		s.byBase = make(map[string]*resolver.Source)
	}
	made := &resolver.Source{Name: "thttp " + base}
	s.byBase[base] = made
	return made
}
