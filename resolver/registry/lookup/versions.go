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

// Versions implements resolver.History for canonical names. The versions are those of the entry that answers for the name now: its own, which
// may be that of an alias, or of its longest prefix with targets. What may not be shown is left out: versions that were
// redacted, and of a name that leads nowhere any more all by which it led somewhere, as Resolve does.
func (r *Resolver) Versions(ctx context.Context, q resolver.Query) (resolver.Versions, error) {
	name := q.URI.String()
	if !registry.Asked(r.config.Only, registry.Name(name)) {
		return resolver.Versions{}, notRegistered()
	}
	found := resolver.Versions{Name: q.URI, TTL: r.config.TTL, Clients: r.clients()}
	err := r.config.Store.Read(ctx, func(tx registry.Tx) error {
		s := present{tx}
		isUnknown, err := r.isAsUnknown(s, name)
		if err != nil {
			return err
		}
		if isUnknown { // with its query: see Hosts
			name, _, _ = strings.Cut(name, "?")
		}
		key, isGone, err := answering(ctx, s, name)
		if err == nil {
			found.Times, err = timesOf(tx, key, isGone)
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

// answering returns the key of the entry that answers for a name, and whether the name is gone: then it is the entry that is withdrawn. The
// error of a name that is not registered is a *resolver.Negative.
func answering(ctx context.Context, s state, name string) (key registry.Key, isGone bool, err error) {
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

// withdrawn returns the key of an entry that is withdrawn, by its record.
func withdrawn(s state, record *resolver.Record) (registry.Key, error) {
	e, err := s.entry(registry.Name(record.Name))
	if err == nil && e.Status == registry.Withdrawn {
		return e.Key, nil
	}
	return registry.Prefix(record.Name), err
}

// timesPage is how many versions are read at once: a store may read those before again for each page.
const timesPage = 500

// timesOf returns the times of the versions of a key that may be shown, as Versions has them: of a name that is gone those alone by which it
// led nowhere.
func timesOf(tx registry.Tx, key registry.Key, isGone bool) (times []time.Time, err error) {
	last := time.Time{}
	for before, read := registry.Seq(0), 0; read < resolver.MaxVersions; {
		page, err := tx.Versions(key, before, timesPage)
		if err != nil {
			return nil, err
		}
		for i := range page {
			e := &page[i]
			second := e.Changed.UTC().Truncate(time.Second)
			if !last.IsZero() && !second.Before(last) { // what came after it counts, also where a clock was set back
				continue
			}
			if last = second; isShown(e, isGone) {
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

// isShown reports whether everybody may see how a name was by a version of its entry.
func isShown(e *registry.Entry, isGone bool) bool {
	if e.Status != registry.Active {
		return true
	}
	return !isGone && (!e.Redacted || e.Alias != "")
}
