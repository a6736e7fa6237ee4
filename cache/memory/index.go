package memory

import "sync"

// index finds the keys of a group without a scan of the store. The zero value is empty.
type index struct {
	groupOf func(key string) string // "" for a key without a group; nil if no key has a group

	mu     sync.Mutex
	groups map[string]map[string]int // number of entries stored or being written, by group and key
}

// add counts an entry that was added (n is 1) or removed (n is -1).
func (x *index) add(key string, n int) {
	if x.groupOf == nil {
		return
	}
	group := x.groupOf(key)
	if group == "" {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	keys := x.groups[group]
	if keys == nil {
		if x.groups == nil {
			x.groups = make(map[string]map[string]int)
		}
		keys = make(map[string]int)
		x.groups[group] = keys
	}
	if keys[key] += n; keys[key] > 0 {
		return
	}
	if delete(keys, key); len(keys) == 0 {
		delete(x.groups, group)
	}
}

// Keys returns the keys of a group, in no particular order.
func (s *Store[V]) Keys(group string) []string {
	if s.index.groupOf == nil {
		return nil
	}
	held := s.held()
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	var keys []string
	for key := range s.index.groups[group] {
		keys = append(keys, key)
	}
	for key, e := range held { // ristretto may have rejected the entry already
		if e != nil && s.index.groups[group][key] == 0 && s.index.groupOf(key) == group {
			keys = append(keys, key)
		}
	}
	return keys
}

// indexCost is the approximate memory in bytes of a group with one key, without their texts.
const indexCost = 250

func (x *index) cost(key string) int {
	if x.groupOf == nil || x.groupOf(key) == "" {
		return 0
	}
	return indexCost
}
