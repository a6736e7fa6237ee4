package registry

import (
	"context"
	"fmt"
)

// verifyPage is how many keys are read at once.
const verifyPage = 10_000

// Verify is that of the store, and reports the names and prefixes that are not in their canonical form, by which alone they are found.
func (r *Registry) Verify(ctx context.Context, report func(problem string), progress func(done, all Seq)) error {
	if err := r.config.Store.Verify(ctx, report, progress); err != nil {
		return err
	}
	for _, kind := range []Kind{KindName, KindPrefix} {
		for after, more := "", true; more; {
			var page []Change
			err := r.config.Store.Read(ctx, func(tx Tx) (err error) {
				page, err = tx.Current(kind, after, verifyPage)
				return err
			})
			if err != nil {
				return fmt.Errorf("verifying the registry: %w", err)
			}
			for _, c := range page {
				r.verifyKey(c.Key, report)
				after = c.Key.Name
			}
			more = len(page) == verifyPage
		}
	}
	return nil
}

func (r *Registry) verifyKey(key Key, report func(problem string)) {
	canonical, err := r.CanonicalKey(key)
	switch {
	case err != nil:
		report(fmt.Sprintf("%s is not found: %v", key, err))
	case canonical != key:
		report(fmt.Sprintf("%s is not found: its canonical form is %s", key, canonical))
	}
}
