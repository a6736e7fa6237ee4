package bulk

import (
	"errors"
	"strconv"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// applyFull writes a full version, unless the registry has it already.
func (r *run) applyFull(
	tx registry.Tx, w *registry.Batch, u *mergedRecord, before registry.Entry, p *position,
) (changed bool, err error) {
	e, err := r.version(u, before, p.Started)
	if err != nil {
		return false, err
	}
	if e.Version == 0 && before.Exists() {
		return r.applyEdited(w, u, before, e)
	}
	switch {
	case e.Version > 0 && e.Version <= before.Version:
		if err = isThere(tx, before, e); errors.Is(err, registry.ErrConflict) {
			p.Other = e.String()
		}
	case e.Version > 1 && p.Other == e.String(): // a later version of a diverging history
		err = conflict("line_history", "versions of %s before version %d differ in the registry", e.Key, e.Version).
			With("Version", strconv.Itoa(e.Version))
	case e.Version > before.Version+1:
		err = conflict("line_version", "line has version %d of %s, the registry has %d", e.Version, e.Key,
			before.Version).
			With("Version", strconv.Itoa(e.Version), "Registered", strconv.Itoa(before.Version))
	case e.Version > 0 && e.Changed.Before(before.Changed):
		err = registry.Invalid("line_older", "changed", "older than the previous version")
	default:
		changed, err = r.putVersion(w, e, u.superseded)
	}
	return changed, err
}

// applyEdited applies a line from an export without history to a registered name.
func (r *run) applyEdited(w *registry.Batch, u *mergedRecord, before, e registry.Entry) (changed bool, err error) {
	switch {
	case sameRecord(before.Record, e.Record):
		return false, nil
	case !e.Changed.After(before.Changed): // an edited export
		note := ""
		if u.isOf(before) && e.Note != before.Note {
			note = e.Note
		}
		record := registry.Activated(before, e.Record)
		if err := r.Registry.CheckChange(before, e.Key, record, r.AllowUnresolvable); err != nil {
			return false, err
		}
		return r.put(w, u, record, note)
	}
	if err := r.mayChange(u, before, e.Record); err != nil {
		return false, err
	}
	return r.putVersion(w, e, false)
}

// putVersion writes a full version with its author and time. That needs the role Admin, because it can claim
// changes of other users. superseded is that of registry.Batch.Import.
func (r *run) putVersion(w *registry.Batch, e registry.Entry, superseded bool) (bool, error) {
	if err := r.Actor.CheckRole(registry.Admin, e.Key); err != nil {
		return false, err
	}
	return w.Import(e, superseded)
}

// version returns the checked version of a unit.
func (r *run) version(u *mergedRecord, before registry.Entry, now time.Time) (e registry.Entry, err error) {
	e = u.entry
	if e.Since.IsZero() {
		e.Since = e.Changed
		if before.Exists() && before.Status == e.Status {
			e.Since = before.Since
		}
	}
	if e.Record, err = r.Registry.Check(e.Key, e.Record); err != nil {
		return e, err
	}
	if err := registry.CheckTime("changed", e.Changed); err != nil {
		return e, err
	}
	if e.Changed.After(now) {
		return e, registry.Invalid("line_future", "changed", "changed in the future, at %s",
			field.FormatTime(e.Changed))
	}
	return e, nil
}

// isThere returns registry.ErrConflict unless the registry has an equal version; current is the current one.
func isThere(tx registry.Tx, current, e registry.Entry) (err error) {
	there := current
	if e.Version != current.Version {
		there = registry.Entry{}
		err = eachVersion(tx, current.Key, 0, func(version registry.Entry) bool {
			if version.Version == e.Version {
				there = version
			}
			return !there.Exists()
		})
	}
	if err == nil && !sameVersion(there, e) {
		err = conflict("line_history", "version %d of %s differs in the registry", e.Version, e.Key).With("Version",
			strconv.Itoa(e.Version))
	}
	return err
}

// sameVersion reports whether two versions are equal except for their numbers.
func sameVersion(a, b registry.Entry) bool {
	return a.Changed.Equal(b.Changed) && a.By == b.By && a.Note == b.Note && a.Equal(&b.Record)
}

// sameRecord reports whether two records are equal except for Since.
func sameRecord(a, b registry.Record) bool {
	a.Since = b.Since
	return a.Equal(&b)
}
