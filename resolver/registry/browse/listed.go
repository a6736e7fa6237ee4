package browse

import (
	"context"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// Known returns what lists say of names, in any spelling: the zero value for those that are not open to all, or not in the registry.
func Known(ctx context.Context, r *registry.Registry, names []string, at time.Time) ([]resolver.ListedName, error) {
	keys := make([]registry.Key, len(names))
	for i, name := range names {
		if canonical, err := r.Canonical(name); err == nil { // what is no name is not in the registry
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
