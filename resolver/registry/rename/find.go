// Package rename brings the names of a registry to their canonical form: those that were registered before their scheme or namespace had
// the rules of today, by which more spellings are one name.
package rename

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite/sorter"
)

// Group is what is registered of one name or prefix, of which at least one is registered by another key than the canonical one.
type Group struct {
	To registry.Key // the canonical key
	// Entries are those that are registered, in the order of their octets; at most maxSpellings.
	Entries []registry.Entry
}

// has reports whether there is an entry of a key in a group.
func (g *Group) has(key registry.Key) bool {
	return slices.ContainsFunc(g.Entries, func(e registry.Entry) bool { return e.Key == key })
}

// Config says where names are looked for.
type Config struct {
	Registry *registry.Registry
	TempDir  string // for what does not fit into memory; "" is the default of the system
	// Left is called for names that have no canonical form any more, and stay; nil is not called.
	Left func(key registry.Key, why error) error
}

const (
	keysPage   = 1000
	groupsPage = 500 // groups that are looked at, and changed, together
	// maxSpellings bounds those of one name that are looked at together; what is left is found the next time.
	maxSpellings = 1000
	separator    = "\n" // no name has one
)

// each calls f with pages of groups, in the order of their canonical names. It holds no transaction meanwhile.
func (c Config) each(ctx context.Context, f func([]Group) error) error {
	sorted, err := sorter.New(ctx, c.TempDir)
	if err != nil {
		return err
	}
	defer sorted.Close() //nolint:errcheck // what it has is not needed any more
	for _, kind := range []registry.Kind{registry.KindPrefix, registry.KindName} {
		if err := c.collect(ctx, kind, sorted); err != nil {
			return err
		}
	}
	g := grouper{registry: c.Registry, f: f}
	for {
		record, err := sorted.Next()
		if errors.Is(err, io.EOF) {
			return g.end(ctx)
		}
		if err == nil {
			err = g.add(ctx, string(record))
		}
		if err != nil {
			return err
		}
	}
}

// collect sorts the names of a kind that are registered by another key than the canonical one.
func (c Config) collect(ctx context.Context, kind registry.Kind, sorted *sorter.Sorter) error {
	for after := ""; ; {
		var page []registry.Change
		err := c.Registry.Store().Read(ctx, func(tx registry.Tx) (err error) {
			page, err = tx.Current(kind, after, keysPage)
			return err
		})
		if err != nil {
			return fmt.Errorf("reading the names of the registry: %w", err)
		}
		for _, change := range page {
			key := change.Key
			after = key.Name
			to, err := c.Registry.CanonicalKey(key)
			switch {
			case err != nil && c.Left != nil:
				err = c.Left(key, err)
			case err != nil:
				err = nil
			case to != key:
				err = sorted.Add(recordOf(to, key))
			}
			if err != nil {
				return err
			}
		}
		if len(page) < keysPage {
			return nil
		}
	}
}

// recordOf returns what is sorted, by which keys of one name are neighbours.
func recordOf(to, key registry.Key) []byte {
	return []byte(strconv.Itoa(int(to.Kind)) + to.Name + separator + key.Name)
}

// grouper makes groups of what was sorted.
type grouper struct {
	registry *registry.Registry
	f        func([]Group) error
	groups   []keysOf
}

// keysOf are the keys of one name.
type keysOf struct {
	to   registry.Key
	keys []registry.Key
}

func (g *grouper) add(ctx context.Context, record string) error {
	text, name, _ := strings.Cut(record[1:], separator)
	to := registry.Key{Kind: registry.Kind(record[0] - '0'), Name: text}
	key := registry.Key{Kind: to.Kind, Name: name}
	if n := len(g.groups); n > 0 && g.groups[n-1].to == to {
		if last := &g.groups[n-1]; len(last.keys) < maxSpellings {
			last.keys = append(last.keys, key)
		}
		return nil
	}
	if len(g.groups) >= groupsPage {
		if err := g.end(ctx); err != nil {
			return err
		}
	}
	g.groups = append(g.groups, keysOf{to, []registry.Key{key}})
	return nil
}

// end looks the entries of the groups up, and passes on those in which something is to be done.
func (g *grouper) end(ctx context.Context) error {
	var groups []Group
	err := g.registry.Store().Read(ctx, func(tx registry.Tx) error {
		for _, k := range g.groups {
			group, err := groupOf(tx, k)
			if err != nil {
				return err
			}
			if len(group.Entries) > 0 {
				groups = append(groups, group)
			}
		}
		return nil
	})
	g.groups = nil
	if err != nil || len(groups) == 0 {
		return err
	}
	return g.f(groups)
}

// groupOf returns the entries of one name, none where all that are not canonical were decided on before.
func groupOf(tx registry.Tx, k keysOf) (Group, error) {
	group := Group{To: k.to}
	entries, err := tx.Entries(append([]registry.Key{k.to}, k.keys...))
	if err != nil {
		return group, err
	}
	for i, e := range entries {
		if e.Exists() && (i == 0 || !isDecided(&e, k.to)) {
			group.Entries = append(group.Entries, e)
		}
	}
	if len(group.Entries) == 1 && group.Entries[0].Key == k.to {
		group.Entries = nil
	}
	return group, nil
}

// isDecided reports whether an entry stands for the canonical one already.
func isDecided(e *registry.Entry, to registry.Key) bool {
	if e.Kind == registry.KindPrefix {
		return e.Status == registry.Withdrawn && e.Reason == prefixReason(to)
	}
	return e.Alias == to.Name
}

// prefixReason is that of a prefix that another one stands for.
func prefixReason(to registry.Key) string {
	return "names that begin so are below the prefix " + to.Name
}
