package ddds

import "sync"

// expressions has substitution expressions that were parsed before: the names of a namespace have the
// same rules. The zero value is empty. It is safe for concurrent use; nil has none.
type expressions struct {
	mu     sync.Mutex
	parsed map[string]*substitution // by their text
}

// maxExpressions bounds the expressions, and maxReused their programs, in instructions: together they
// take a few megabytes at most. Longer programs are rare.
const (
	maxExpressions = 100
	maxReused      = 100
)

// parse returns a substitution expression.
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
