package health

import (
	"context"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// List calls each with the targets of names that begin with prefix of which something is kept: those that are not
// healthy, and those that were not until lately. state selects those with a state, "" is any.
func List(ctx context.Context, store registry.Store, prefix string, state State, each func(Target) error) error {
	for after := ""; ; {
		found, next, err := Page(ctx, store, prefix, state, after, maxKnown)
		if err != nil {
			return err
		}
		for _, t := range found {
			if err := each(t); err != nil {
				return err
			}
		}
		if after = next; after == "" {
			return nil
		}
	}
}

// Page returns targets as List has them: at most limit, after a key that a page before has returned; "" begins. next is "" at the end.
func Page(ctx context.Context, store registry.Store, prefix string, state State, after string, limit int) (found []Target, next string, err error) {
	var last registry.HealthKey
	last.Name, last.Hash, _ = strings.Cut(after, " ") // no canonical name has a space
	err = store.Read(ctx, func(tx registry.Tx) error {
		kept, err := tx.Health(prefix, last, string(state), limit)
		if err == nil {
			found, err = toTargets(kept)
		}
		return err
	})
	if err == nil && len(found) == limit {
		key := found[limit-1].key()
		next = key.Name + " " + key.Hash
	}
	return found, next, err
}

// ListAll calls each with all targets of active names that begin with prefix. Of those that are healthy Checked is the
// time by which the sweep passed the name; it is zero where none did, and then State is "".
func ListAll(ctx context.Context, store registry.Store, now time.Time, prefix string, each func(Target) error) error {
	for after, end := "", false; !end; {
		var found []Target
		err := store.Read(ctx, func(tx registry.Tx) (err error) {
			found, after, end, err = readAll(tx, now, prefix, after)
			return err
		})
		if err != nil {
			return err
		}
		for _, t := range found {
			if err := each(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// readAll reads the targets of a page of names.
func readAll(tx registry.Tx, now time.Time, prefix, after string) (found []Target, last string, end bool, err error) {
	s, err := readSweep(tx)
	if err != nil {
		return nil, "", false, err
	}
	points, err := readPassed(tx)
	if err != nil {
		return nil, "", false, err
	}
	entries, err := tx.List(registry.KindName, prefix, after, maxPage)
	if err != nil {
		return nil, "", false, err
	}
	for _, e := range entries {
		last = e.Name
		for _, uri := range targetsOf(e, now) {
			t, err := readTarget(tx, e.Name, uri)
			if err != nil {
				return nil, "", false, err
			}
			if by := points.at(e.Name, s); t.State == "" && by.After(e.Changed) {
				t.State, t.Checked = Healthy, by
			}
			found = append(found, t)
		}
	}
	return found, last, len(entries) < maxPage, nil
}

// ReadSweep returns how far the sweep is; the zero value of Started is that there was none.
func ReadSweep(ctx context.Context, store registry.Store) (s Sweep, err error) {
	err = store.Read(ctx, func(tx registry.Tx) error {
		s, err = readSweep(tx)
		return err
	})
	return s, err
}
