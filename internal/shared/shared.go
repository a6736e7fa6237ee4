// Package shared reuses values that outlive the configuration for which they were created, such as caches. A
// name, the configuration parts that the value depends on and a constructor enter; the value of the previous
// configuration is returned if these parts are equal, or else a new one. Values are reference-counted by
// configuration and closed by the last one.
package shared

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
)

// Values are the values of one configuration. The zero value is empty. It is not safe for concurrent use.
type Values struct {
	all []*value
}

// value is one of Values.
type value struct {
	name  string
	basis any // parts of the configuration that it depends on
	value any
	close func()
	users atomic.Int32 // number of configurations that use it; the last one closes it
}

// Reuse returns the value with this name of the previous configuration if it was created for an equal basis,
// and a new one otherwise. previous may be nil.
func Reuse[T any](
	v, previous *Values, name string, basis any, create func() (made T, close func(), err error),
) (T, error) {
	if previous != nil {
		for _, old := range previous.all {
			reused, ok := old.value.(T)
			if ok && old.name == name && reflect.DeepEqual(old.basis, basis) {
				old.users.Add(1) // the previous configuration still uses it
				v.all = append(v.all, old)
				return reused, nil
			}
		}
	}
	made, end, err := create()
	if err != nil {
		return made, fmt.Errorf("creating %s: %w", name, err)
	}
	created := &value{name: name, basis: basis, value: made, close: end}
	created.users.Store(1)
	v.all = append(v.all, created)
	return made, nil
}

// Close closes the values that no other configuration uses: adjacent configurations may still have running
// requests. Values are closed in reverse order of creation, because later ones may use earlier ones.
func (v *Values) Close() {
	for _, shared := range slices.Backward(v.all) {
		if shared.users.Add(-1) == 0 {
			shared.close()
		}
	}
}
