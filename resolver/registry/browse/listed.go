package browse

import (
	"context"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// Known returns the public data of names, in any spelling: the zero value for names that are not public, or
// not registered.
func Known(ctx context.Context, r *registry.Registry, names []string, at time.Time) ([]resolver.ListedName, error) {
	keys := make([]registry.Key, len(names))
	for i, name := range names {
		if canonical, err := r.Canonical(name); err == nil { // an invalid name is not registered
			keys[i] = registry.Name(canonical)
		}
	}
	all := make([]resolver.ListedName, len(names))
	err := r.Store().Read(ctx, func(tx registry.Tx) error {
		entries, err := tx.Entries(keys)
		for i := range entries {
			if entries[i].IsOpen() {
				all[i] = listed(&entries[i], at)
			}
		}
		return err
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return all, nil
}
