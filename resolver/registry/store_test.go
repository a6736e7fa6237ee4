package registry_test

import (
	"errors"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

func TestAscending(t *testing.T) {
	for name, test := range map[string]struct {
		page []int
		ok   bool
	}{
		"nothing":             {nil, true},
		"from the least on":   {[]int{3, 4, 9}, true},
		"before the least":    {[]int{2, 4}, false},
		"the same again":      {[]int{3, 4, 4}, false},
		"back to the least":   {[]int{3, 4, 3}, false},
		"one before another":  {[]int{5, 9, 8, 10}, false},
		"the least, and done": {[]int{3}, true},
	} {
		err := registry.CheckAscending(test.page, 3, func(n *int) int { return *n })
		if (err == nil) != test.ok || err != nil && !errors.Is(err, registry.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
