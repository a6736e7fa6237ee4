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

// Feed follows the changes of a store, including those of other processes.
type Feed struct {
	Store Store
	// Every is the polling interval, for when the store gives no hint.
	Every time.Duration
	// Changed is called with the changed keys, in the order of their changes, and with the keys that depend on
	// them: the aliases of a name. It may be called with a key that has not changed. Prefix("") stands for all
	// keys: the store has lost changes that the feed had already read.
	Changed func(keys []Key)
	// State is called by Run after each poll, with nil or the error of reading the store.
	State func(err error)
	// After returns a channel that receives once, after a duration.
	After func(time.Duration) <-chan time.Time

	mu     sync.Mutex // serializes polls
	cursor Seq
	// Commit that contains cursor. A store that was restored, or has lost its last transactions, has no such
	// commit or a different one.
	commit Commit
}

// feedPage is how many changes are read per page.
const feedPage = 1000

// Run follows the changes after a Seq until ctx ends. It returns the Seq up to which it has read.
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
		case <-f.Store.Notifications():
		case <-f.After(f.Every):
		}
	}
}

// Seq returns the Seq up to which changes were read.
func (f *Feed) Seq() Seq { return f.at() }

func (f *Feed) at() Seq {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cursor
}

// Poll reads all pending changes. It is safe for concurrent use, also while Run runs.
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

// page reads one page of changes. It returns their number, and whether the store has lost changes that were
// read before.
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

// position returns the cursor and its commit, and whether the commit of the store at the cursor is missing or a
// different one.
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

// restart moves the cursor to the head of the store, and reports that all keys may have changed.
func (f *Feed) restart(ctx context.Context) error {
	head, err := f.Store.Head(ctx)
	if err != nil {
		return err
	}
	f.cursor, f.commit = head, Commit{}
	f.Changed([]Key{Prefix("")})
	return nil
}

// affected returns the keys of changes, and the aliases of the names among them and of the names below the
// prefixes among them.
func affected(tx Tx, changes []ChangedKey) ([]Key, error) {
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
		if alias := entries[i].Alias; alias != "" { // the other aliases of that name change, too
			keys = append(keys, Name(alias))
		}
		names := []string{c.Key.Name}
		if c.Key.Kind == KindPrefix { // an alias may refer to a name that only the prefix resolves
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

// appendAliases appends the keys of the direct and indirect aliases of names.
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

// maxFollowed limits how many aliases of a single name are followed.
const maxFollowed = 10_000

// Selection selects the cached responses that depend on a key; ok is false if there can be none.
func (k Key) Selection() (s resolver.Selection, ok bool) {
	if k.Kind != KindName {
		return resolver.Selection{Prefix: k.Name, All: k.Name == ""}, true
	}
	u, err := uri.Parse(k.Name)
	return resolver.Selection{Name: u}, err == nil
}
