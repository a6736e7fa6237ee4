package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
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
	commit Commit // that the cursor belongs to: a store that was restored, or has lost its last transactions, has none or another one
}

// feedPage is how many changes are read at once.
const feedPage = 1000

// Run follows the changes after a Seq until ctx ends. It returns up to where it has.
func (f *Feed) Run(ctx context.Context, after Seq) Seq {
	f.mu.Lock()
	f.cursor, f.commit = after, Commit{}
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
	cursor, commit := f.cursor, f.commit
	err = f.Store.Read(ctx, func(tx Tx) error {
		keys, n, lost = nil, 0, false
		if cursor, commit, lost, err = f.position(tx); err != nil || lost {
			return err
		}
		changes, err := tx.Changes(cursor, feedPage)
		if n = len(changes); err != nil || n == 0 {
			return err
		}
		if keys, err = affected(tx, changes); err != nil {
			return err
		}
		cursor = changes[n-1].Seq
		commit, err = commitOf(tx, cursor)
		return err
	})
	if err != nil || lost {
		return 0, lost, err
	}
	if n > 0 {
		f.Changed(keys)
	}
	f.cursor, f.commit = cursor, commit
	return n, false, nil
}

// position returns the cursor and its commit, and whether the store has another one there.
func (f *Feed) position(tx Tx) (cursor Seq, commit Commit, lost bool, err error) {
	if f.cursor == 0 {
		return 0, Commit{}, false, nil
	}
	commit, err = commitOf(tx, f.cursor)
	if errors.Is(err, ErrUnknown) {
		return 0, Commit{}, true, nil
	}
	return f.cursor, commit, err == nil && f.commit.Last != 0 && f.commit != commit, err
}

// restart begins anew at the last change that there is.
func (f *Feed) restart(ctx context.Context) error {
	head, err := f.Store.Head(ctx)
	if err != nil {
		return err
	}
	f.cursor, f.commit = head, Commit{}
	f.Changed([]Key{Prefix("")})
	return nil
}

// affected returns the keys of changes, and of the aliases of names among them, or below prefixes among them.
func affected(tx Tx, changes []Change) ([]Key, error) {
	keys := make([]Key, 0, len(changes))
	for _, c := range changes {
		keys = append(keys, c.Key)
	}
	first, err := tx.Aliased("", "", 1)
	if err != nil || len(first) == 0 {
		return keys, err
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
		page, err := tx.Aliased(prefix, after, feedPage)
		if err != nil {
			return nil, err
		}
		names = append(names, page...)
		if len(page) < feedPage {
			return names, nil
		}
		after = page[len(page)-1]
	}
}

// appendAliases appends the keys of the names that are aliases of some, also by other aliases.
func appendAliases(tx Tx, keys []Key, names []string) ([]Key, error) {
	for range MaxAliases {
		var next []string
		for _, name := range names {
			aliases, err := tx.Aliases(name, "", maxFollowed)
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

// Selection returns the answers that are made of what is registered of a key; ok is false where there can be none.
func (k Key) Selection() (s resolver.Selection, ok bool) {
	if k.Kind != KindName {
		return resolver.Selection{Prefix: k.Name, All: k.Name == ""}, true
	}
	u, err := uri.Parse(k.Name)
	return resolver.Selection{Name: u}, err == nil
}
