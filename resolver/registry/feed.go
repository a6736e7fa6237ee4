package registry

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Feed follows the changes of a store, also those that other processes make.
type Feed struct {
	Store Store
	// Every is how often the store is asked where it gives no hint.
	Every time.Duration
	// Changed is called with the keys that have changed, in the order of their changes, and with
	// what follows from them: the aliases of a name. It may be called with a key that has not. Prefix("")
	// stands for all: the store has lost changes that were read.
	Changed func(keys []Key)
	// State is called when the store could be asked (nil), and when it could not.
	State func(err error)
	// After returns a channel that receives once, after a time.
	After func(time.Duration) <-chan time.Time

	mu     sync.Mutex // one reads at a time
	cursor Seq
	last   lastChange // that at cursor
}

// lastChange is a change that was read. A store that was restored, or whose last transactions were lost
// in a failover or a power failure, has none or another one at its Seq.
type lastChange struct {
	Change
	changed time.Time // of the version, where it is the current one
}

// feedPage is how many changes are read at once.
const feedPage = 1000

// Run follows the changes after a Seq until ctx ends. It returns up to where it has.
func (f *Feed) Run(ctx context.Context, after Seq) Seq {
	f.mu.Lock()
	f.cursor, f.last = after, lastChange{}
	f.mu.Unlock()
	for {
		err := f.Poll(ctx)
		if ctx.Err() != nil {
			return f.at()
		}
		f.State(err)
		select {
		case <-ctx.Done():
			return f.at()
		case <-f.Store.Hint():
		case <-f.After(f.Every):
		}
	}
}

// At returns up to where changes were read.
func (f *Feed) At() Seq { return f.at() }

// at returns up to where changes were read.
func (f *Feed) at() Seq {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cursor
}

// Poll reads all changes that there are. It is safe for concurrent use, also while Run runs.
func (f *Feed) Poll(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		n, lost, err := f.page(ctx)
		if err == nil && lost {
			err = f.restart(ctx)
		}
		if err != nil {
			return fmt.Errorf("reading the changes of the registry: %w", err)
		}
		if n < feedPage {
			return nil
		}
	}
}

// page reads some changes. It returns how many, and whether changes were lost that were read before.
func (f *Feed) page(ctx context.Context) (n int, lost bool, err error) {
	var keys []Key
	last := f.last
	err = f.Store.Read(ctx, func(tx Tx) error {
		changes, err := tx.Changes(max(f.cursor-1, 0), feedPage+1)
		if err != nil {
			return err
		}
		if f.cursor > 0 {
			if lost, err = f.isLost(tx, changes); err != nil || lost {
				return err
			}
			changes = changes[1:]
		}
		if n = len(changes); n == 0 {
			return nil
		}
		if keys, err = affected(tx, changes); err != nil {
			return err
		}
		last, err = lastOf(tx, changes[n-1])
		return err
	})
	if err != nil || lost {
		return 0, lost, err
	}
	if n > 0 {
		f.Changed(keys)
		f.cursor, f.last = last.Seq, last
	}
	return n, false, nil
}

// isLost reports whether the change at the cursor is not the first one of changes.
func (f *Feed) isLost(tx Tx, changes []Change) (bool, error) {
	if len(changes) == 0 || changes[0].Seq != f.cursor {
		return true, nil
	}
	if f.last.Seq == 0 { // Run has begun at it
		return false, nil
	}
	now, err := lastOf(tx, changes[0])
	isOther := !now.changed.Equal(f.last.changed) && !now.changed.IsZero() && !f.last.changed.IsZero()
	return now.Key != f.last.Key || isOther, err
}

// lastOf returns what a change is known by.
func lastOf(tx Tx, change Change) (lastChange, error) {
	entries, err := tx.Entries([]Key{change.Key})
	if err != nil || entries[0].Seq != change.Seq {
		return lastChange{Change: change}, err
	}
	return lastChange{change, entries[0].Changed}, nil
}

// restart begins anew at the last change that there is.
func (f *Feed) restart(ctx context.Context) error {
	head, err := f.Store.Head(ctx)
	if err != nil {
		return err
	}
	f.cursor, f.last = head, lastChange{}
	f.Changed([]Key{Prefix("")})
	return nil
}

// affected returns the keys of changes, and of the aliases of names among them, or below prefixes among them.
func affected(tx Tx, changes []Change) ([]Key, error) {
	first, err := tx.Documents(TableAliases, "", "", 1)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, 0, len(changes))
	for _, c := range changes {
		keys = append(keys, c.Key)
	}
	if len(first) == 0 {
		return keys, nil
	}
	entries, err := tx.Entries(keys)
	if err != nil {
		return nil, err
	}
	for i, c := range changes {
		if alias := entries[i].Alias; alias != "" { // the other names of that one have changed
			keys = append(keys, Name(alias))
		}
		names := []string{c.Key.Name}
		if c.Key.Kind == KindPrefix { // an alias may be of a name that only the prefix resolves
			if names, err = aliased(tx, c.Key.Name); err != nil {
				return nil, err
			}
		}
		if keys, err = appendAliases(tx, keys, names); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// aliased returns the names that begin with a prefix and have aliases.
func aliased(tx Tx, prefix string) (names []string, err error) {
	for after := ""; ; {
		page, err := tx.Documents(TableAliases, prefix, after, feedPage)
		if err != nil {
			return nil, err
		}
		for _, d := range page {
			name, _, _ := strings.Cut(d.Key, " ")
			if n := len(names); n == 0 || names[n-1] != name {
				names = append(names, name)
			}
			after = d.Key
		}
		if len(page) < feedPage {
			return names, nil
		}
	}
}

// appendAliases appends the keys of the names that are aliases of some, also by other aliases.
func appendAliases(tx Tx, keys []Key, names []string) ([]Key, error) {
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
