package lookup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// Versions implements resolver.History for canonical names. The versions are those of the entry that currently
// resolves the name: its own, which may be an alias, or that of its longest prefix with targets. Hidden
// versions are omitted, as in Resolve: redacted ones, and for a name that is gone all versions that resolved.
func (r *Resolver) Versions(ctx context.Context, q resolver.Query) (resolver.Versions, error) {
	name := q.URI.String()
	if !registry.Owned(r.config.OwnedPrefixes, registry.Name(name)) {
		return resolver.Versions{}, notRegistered()
	}
	found := resolver.Versions{Name: q.URI, TTL: r.config.TTL, ClientTTL: r.clients()}
	err := r.config.Store.Read(ctx, func(tx registry.Tx) error {
		s := txState{tx}
		unknown, err := r.isAsUnknown(s, name)
		if err != nil {
			return err
		}
		if unknown { // without its query: see Hosts
			name, _, _ = strings.Cut(name, "?")
		}
		key, gone, err := resolvingKey(ctx, s, name)
		if err == nil {
			found.Times, err = timesOf(tx, key, gone)
		}
		return err
	})
	switch {
	case err != nil && !errors.As(err, new(*resolver.Negative)):
		return resolver.Versions{}, &unavailable{err}
	case err == nil && len(found.Times) == 0:
		err = notRegistered()
	}
	return found, err
}

// resolvingKey returns the key of the entry that resolves a name. If the name is gone, gone is true, and the key
// is that of the withdrawn entry. The error for an unregistered name is a *resolver.Negative.
func resolvingKey(ctx context.Context, s state, name string) (key registry.Key, gone bool, err error) {
	found, err := resolve(ctx, s, name)
	if errors.Is(err, resolver.ErrGone) {
		key, err = withdrawn(s, resolver.RecordOf(err))
		return key, true, err
	}
	if err != nil && !errors.As(err, new(*resolver.Negative)) {
		return registry.Key{}, false, err
	}
	if e, storeErr := s.entry(registry.Name(name)); storeErr != nil || e.Exists() {
		return e.Key, false, storeErr
	}
	return found.entry.Key, false, err
}

// withdrawn returns the key of a withdrawn entry, by its record.
func withdrawn(s state, record *resolver.Record) (registry.Key, error) {
	e, err := s.entry(registry.Name(record.Name))
	if err == nil && e.Status == registry.Withdrawn {
		return e.Key, nil
	}
	return registry.Prefix(record.Name), err
}

// timesPage is how many versions are read per page: a store may scan the earlier pages again for each page.
const timesPage = 500

// timesOf returns the times of the visible versions of a key, oldest first: for a name that is gone only those
// that did not resolve.
func timesOf(tx registry.Tx, key registry.Key, gone bool) (times []time.Time, err error) {
	last := time.Time{}
	for before, read := registry.Seq(0), 0; read < resolver.MaxVersions; {
		page, err := tx.Versions(key, before, timesPage)
		if err != nil {
			return nil, err
		}
		for i := range page {
			e := &page[i]
			second := e.Changed.UTC().Truncate(time.Second)
			// The later version prevails, also if the clock was set back.
			if !last.IsZero() && !second.Before(last) {
				continue
			}
			if last = second; isShown(e, gone) {
				times = append(times, second)
			}
		}
		if read += len(page); len(page) < timesPage {
			break
		}
		before = page[len(page)-1].Seq
	}
	slices.Reverse(times)
	return times, nil
}

// isShown reports whether the public may see the state of a name at a version of its entry.
func isShown(e *registry.Entry, gone bool) bool {
	if e.Status != registry.Active {
		return true
	}
	return !gone && (!e.Redacted || e.Alias != "")
}
