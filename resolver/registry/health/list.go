package health

import (
	"context"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// List calls each with the stored targets of names that begin with prefix: unhealthy, suspect and
// inaccessible targets, and some healthy ones with a history. state filters by a state, "" is any.
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

// Page returns at most limit targets in the order of List, after the key that the previous page returned; ""
// starts at the beginning. next is "" after the last page.
func Page(
	ctx context.Context, store registry.Store, prefix string, state State, after string, limit int,
) (found []Target, next string, err error) {
	var last registry.HealthKey
	last.Name, last.Hash, _ = strings.Cut(after, " ") // canonical names contain no spaces
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

// ListAll calls each with all targets of active names that begin with prefix. Checked of a healthy target is
// the time at which the sweep passed its name; if no sweep did yet, Checked is zero and State is "".
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

// ReadSweep returns the progress of the sweep; Started is the zero value if there was no sweep yet.
func ReadSweep(ctx context.Context, store registry.Store) (s Sweep, err error) {
	err = store.Read(ctx, func(tx registry.Tx) error {
		s, err = readSweep(tx)
		return err
	})
	return s, err
}
