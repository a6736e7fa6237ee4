package ddds

import "sync"

// expressions is a cache of parsed substitution expressions: the names of a namespace have the same rules. The
// zero value is empty. It is safe for concurrent use; nil caches nothing.
type expressions struct {
	mu     sync.Mutex
	parsed map[string]*substitution // by their text
}

// maxExpressions limits the expressions, and maxReused their programs, in instructions: together they take a
// few megabytes at most. Longer programs are rare, and are not cached.
const (
	maxExpressions = 100
	maxReused      = 100
)

// parse returns the parsed substitution expression, from the cache if possible.
func (x *expressions) parse(text string) (*substitution, error) {
	if x == nil {
		return parseSubstitution(text)
	}
	x.mu.Lock()
	known := x.parsed[text]
	x.mu.Unlock()
	if known != nil {
		return known, nil
	}
	s, err := parseSubstitution(text)
	if err != nil || s.ere.size > maxReused {
		return s, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.parsed == nil || len(x.parsed) == maxExpressions {
		x.parsed = make(map[string]*substitution)
	}
	x.parsed[text] = s
	return s, nil
}
