package registry

import (
	"cmp"
	"fmt"
)

// Ascending returns ErrDamaged unless the keys of a page of a store ascend, from least on. Those of a damaged index may not, and who
// asks for the page after the last key would never come to the end.
func Ascending[T any, K cmp.Ordered](page []T, least K, key func(*T) K) error {
	for i := range page {
		k := key(&page[i])
		if k < least || i > 0 && k == least {
			return fmt.Errorf("%w: an index is out of order at %#v", ErrDamaged, k)
		}
		least = k
	}
	return nil
}
