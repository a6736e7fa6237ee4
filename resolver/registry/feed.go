package registry

import (
	"context"
	"fmt"
	"time"
)

// Feed follows the changes of a store, also those that other processes make.
type Feed struct {
	Store Store
	// Every is how often the store is asked where it gives no hint.
	Every time.Duration
	// Changed is called with the keys that have changed, in the order of their changes, and with
	// what follows from them: the aliases of a name. It may be called with a key that has not.
	Changed func(keys []Key)
	// State is called when the store could be asked (nil), and when it could not.
	State func(err error)
	// After returns a channel that receives once, after a time.
	After func(time.Duration) <-chan time.Time

	cursor Seq
}

// feedPage is how many changes are read at once.
const feedPage = 1000

// Run follows the changes after a Seq until ctx ends. It returns up to where it has.
func (f *Feed) Run(ctx context.Context, after Seq) Seq {
	f.cursor = after
	for {
		err := f.Poll(ctx)
		if ctx.Err() != nil {
			return f.cursor
		}
		f.State(err)
		select {
		case <-ctx.Done():
			return f.cursor
		case <-f.Store.Hint():
		case <-f.After(f.Every):
		}
	}
}

// Poll reads all changes that there are.
func (f *Feed) Poll(ctx context.Context) error {
	for {
		var keys []Key
		next, n := f.cursor, 0
		err := f.Store.Read(ctx, func(tx Tx) error {
			changes, err := tx.Changes(f.cursor, feedPage)
			if err != nil || len(changes) == 0 {
				return err
			}
			next, n = changes[len(changes)-1].Seq, len(changes)
			keys, err = affected(tx, changes)
			return err
		})
		if err != nil {
			return fmt.Errorf("reading the changes of the registry: %w", err)
		}
		if n > 0 {
			f.Changed(keys)
		}
		f.cursor = next
		if n < feedPage {
			return nil
		}
	}
}

// affected returns the keys of changes, and of the aliases of names among them.
func affected(tx Tx, changes []Change) ([]Key, error) {
	first, err := tx.Documents(TableAliases, "", "", 1)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, 0, len(changes))
	for _, c := range changes {
		keys = append(keys, c.Key)
		if len(first) > 0 && c.Key.Kind == KindName {
			if keys, err = appendAliases(tx, keys, c.Key.Name); err != nil {
				return nil, err
			}
		}
	}
	return keys, nil
}

// appendAliases appends the keys of the names that are aliases of one, also by other aliases.
func appendAliases(tx Tx, keys []Key, name string) ([]Key, error) {
	names := []string{name}
	for range maxAliases {
		var next []string
		for _, name := range names {
			aliases, err := AliasesOf(tx, name, maxFollowed)
			if err != nil {
				return nil, err
			}
			for _, alias := range aliases {
				keys = append(keys, Name(alias))
			}
			next = append(next, aliases...)
		}
		if names = next; len(names) == 0 {
			break
		}
	}
	return keys, nil
}

// maxFollowed bounds the aliases of one name that are followed.
const maxFollowed = 10_000
