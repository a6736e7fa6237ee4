// Package shared is for values that outlive the configuration they were made for, such as
// caches: the next configuration reuses them where nothing that they depend on has changed.
package shared

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
)

// Values are those of one configuration. The zero value has none. It is not safe for
// concurrent use.
type Values struct {
	all []*value
}

// value is one of them.
type value struct {
	name  string
	basis any // the parts of the configuration that it depends on
	value any
	close func()
	users atomic.Int32 // configurations that have it: the last one closes it
}

// Reuse returns the value of that name of the previous configuration, if it was made for
// an equal basis, and a new one otherwise. previous may be nil.
func Reuse[T any](v, previous *Values, name string, basis any, create func() (made T, close func(), err error)) (T, error) {
	if previous != nil {
		for _, old := range previous.all {
			reused, ok := old.value.(T)
			if ok && old.name == name && reflect.DeepEqual(old.basis, basis) {
				old.users.Add(1) // the previous configuration still has it
				v.all = append(v.all, old)
				return reused, nil
			}
		}
	}
	made, end, err := create()
	if err != nil {
		return made, fmt.Errorf("making %s: %w", name, err)
	}
	created := &value{name: name, basis: basis, value: made, close: end}
	created.users.Store(1)
	v.all = append(v.all, created)
	return made, nil
}

// Close closes the values that no other configuration has: those before and after may have
// requests that are still running. The last one that was made is closed first: it may use the others.
func (v *Values) Close() {
	for _, shared := range slices.Backward(v.all) {
		if shared.users.Add(-1) == 0 {
			shared.close()
		}
	}
}
