package thttp

import (
	"sync"

	"github.com/urnd/urnd/resolver"
)

// maxSources bounds the number of servers in the map.
const maxSources = 1000

// sources has one Source for each server, which all its answers share. The zero value
// is ready. It is safe for concurrent use.
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
	created := &resolver.Source{Name: "thttp " + base}
	s.byBase[base] = created
	return created
}
