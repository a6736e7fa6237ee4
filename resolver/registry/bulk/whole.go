package bulk

import (
	"fmt"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// applyWhole makes a version as it was, unless it is there.
func (r *run) applyWhole(tx registry.Tx, w *registry.Batch, u *unit, before registry.Entry, now time.Time) (outcome, error) {
	e := u.entry
	if !u.said.has(fieldSince) || e.Since.IsZero() {
		e.Since = e.Changed
		if before.Exists() && before.Status == e.Status {
			e.Since = before.Since
		}
	}
	record, err := r.Registry.Check(e.Key, e.Record)
	if err != nil {
		return unchanged, err
	}
	e.Record = record
	if e.Changed.After(now) {
		return unchanged, fmt.Errorf("%w: it was changed in the future, at %s", registry.ErrInvalid, formatTime(e.Changed))
	}
	if e.Version > 0 && e.Version <= before.Version {
		there, err := versionOf(tx, before, e.Version)
		if err == nil && !sameVersion(there, e) {
			err = fmt.Errorf("%w: version %d of %s in the registry is another one", registry.ErrConflict, e.Version, e.Key)
		}
		return unchanged, err
	}
	switch {
	case e.Version > before.Version+1:
		return unchanged, fmt.Errorf("%w: it is version %d of %s, and the registry has %d", registry.ErrConflict, e.Version, e.Key, before.Version)
	case e.Version == 0 && before.Exists() && sameRecord(before.Record, e.Record):
		return unchanged, nil
	case before.Exists() && e.Changed.Before(before.Changed) || e.Version == 0 && before.Exists() && e.Changed.Equal(before.Changed):
		if e.Version > 0 {
			return unchanged, fmt.Errorf("%w: it is older than the version before", registry.ErrInvalid)
		}
		// An export that somebody has edited.
		_, is, err := w.Put(e.Key, e.Record, r.Note)
		return outcomeOf(before, is), err
	}
	is, err := w.Import(e)
	return outcomeOf(before, is), err
}

// versionsPage is how many versions are read at once.
const versionsPage = 100

// versionOf returns a version of a name; current is the current one.
func versionOf(tx registry.Tx, current registry.Entry, version int) (registry.Entry, error) {
	for e, before := current, registry.Seq(0); ; {
		if e.Version == version {
			return e, nil
		}
		page, err := tx.Versions(current.Key, before, versionsPage)
		if err != nil {
			return registry.Entry{}, err
		}
		for _, e = range page {
			if e.Version == version {
				return e, nil
			}
			before = e.Seq
		}
		if len(page) < versionsPage {
			return registry.Entry{}, nil
		}
	}
}

// sameVersion reports whether two versions are equal but for their numbers.
func sameVersion(a, b registry.Entry) bool {
	return a.Changed.Equal(b.Changed) && a.By == b.By && a.Note == b.Note && a.Since.Equal(b.Since) && sameRecord(a.Record, b.Record)
}

// sameRecord reports whether two records are equal but for Since.
func sameRecord(a, b registry.Record) bool {
	return a.Status == b.Status && a.Reason == b.Reason && slices.Equal(a.Successors, b.Successors) && a.Alias == b.Alias &&
		slices.Equal(a.Targets, b.Targets) && a.Metadata == b.Metadata && a.Contact == b.Contact &&
		a.Authoritative == b.Authoritative && a.Sandbox == b.Sandbox
}
