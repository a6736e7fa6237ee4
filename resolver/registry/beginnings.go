package registry

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/resolver"
)

// ReadBeginnings adds what the names and prefixes of a store begin with, by one question for each.
func ReadBeginnings(ctx context.Context, store Store, into *resolver.Beginnings) error {
	err := store.Read(ctx, func(tx Tx) error {
		for _, kind := range []Kind{KindName, KindPrefix} {
			for after := ""; ; {
				entries, err := tx.List(kind, "", after, 1)
				if err != nil {
					return err
				}
				if len(entries) == 0 {
					break
				}
				beginning, _ := into.Add(entries[0].Name)
				after = max(beginning+"\U0010FFFF", entries[0].Name) // no name has that character: it is encoded
			}
		}
		return nil
	})
	if err == nil {
		into.Read()
		return nil
	}
	return fmt.Errorf("reading what the names of the registry begin with: %w", err)
}
