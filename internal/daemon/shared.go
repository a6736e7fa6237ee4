package daemon

import (
	"fmt"
	"reflect"
	"sync/atomic"
)

// Shared are values that outlive a generation where the next one can use them, such as
// caches. The zero value has none. It is not safe for concurrent use.
type Shared struct {
	values []*sharedValue
}

// sharedValue is one of them.
type sharedValue struct {
	name  string
	basis any // the configuration that it depends on
	value any
	close func()
	users atomic.Int32 // generations that have it: the last one closes it
}

// Share returns the value of that name which before has, where it was made for an equal
// basis, and one that is made anew otherwise. before may be nil.
func Share[T any](s, before *Shared, name string, basis any, make func() (value T, close func(), err error)) (T, error) {
	if before != nil {
		for _, v := range before.values {
			value, ok := v.value.(T)
			if ok && v.name == name && reflect.DeepEqual(v.basis, basis) {
				v.users.Add(1) // the generation before has it still
				s.values = append(s.values, v)
				return value, nil
			}
		}
	}
	value, end, err := make()
	if err != nil {
		return value, fmt.Errorf("making %s: %w", name, err)
	}
	v := &sharedValue{name: name, basis: basis, value: value, close: end}
	v.users.Store(1)
	s.values = append(s.values, v)
	return value, nil
}

// Close closes the values that no other generation has: those before and after may have
// requests that run.
func (s *Shared) Close() {
	for _, v := range s.values {
		if v.users.Add(-1) == 0 {
			v.close()
		}
	}
}
