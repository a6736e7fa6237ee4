package browse

import (
	"context"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// Lookup returns the public data of names, in any spelling: the zero value for names that are not public, or
// not registered.
func Lookup(ctx context.Context, r *registry.Registry, names []string, at time.Time) ([]resolver.NameSummary, error) {
	keys := make([]registry.Key, len(names))
	for i, name := range names {
		if canonical, err := r.Canonical(name); err == nil { // an invalid name is not registered
			keys[i] = registry.Name(canonical)
		}
	}
	all := make([]resolver.NameSummary, len(names))
	err := r.Store().Read(ctx, func(tx registry.Tx) error {
		entries, err := tx.Entries(keys)
		for i := range entries {
			if entries[i].Public() {
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
