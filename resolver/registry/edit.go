package registry

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Any is the version of an Edit that is made whatever the current version is.
const Any = -1

// Edit changes one entry. Its name need not be canonical.
type Edit struct {
	Key Key
	// IfVersion is the version that must be the current one: 0 is that there is none, Any is any.
	IfVersion int
	Note      string // why
	// KeepNote makes a version for a note also where the record stays as it is.
	KeepNote bool
	// Activate says that a withdrawn entry may become active: whoever makes the change has said so.
	Activate bool
	// OutsideSandbox says that a prefix is in no sandbox, also where a shorter one is; else it is in that of the shorter one.
	OutsideSandbox bool
	// AllowUnresolvable accepts a name that the registry is not asked for.
	AllowUnresolvable bool
	// Change returns the new record. before is the zero value where there is no entry yet. It may
	// be called more than once.
	Change func(before Entry) (Record, error)
}

// Put returns a change to a record, whatever was there before.
func Put(record Record) func(Entry) (Record, error) {
	return func(Entry) (Record, error) { return record, nil }
}

// Activated returns a record with the status that it has where nothing was said of that: what was only reserved
// becomes active when it gets targets, or becomes an alias.
func Activated(before Entry, record Record) Record {
	leads := len(record.Targets) > 0 && !slices.EqualFunc(before.Targets, record.Targets, Target.Equal)
	aliased := record.Alias != "" && record.Alias != before.Alias
	if before.Exists() && before.Status == Reserved && record.Status == Reserved && (leads || aliased) {
		record.Status = Active
	}
	return record
}

// Withdraw returns the change that withdraws an entry. Its targets stay in the record: nobody is
// led there. Successors are URIs of what came instead.
func Withdraw(reason string, successors ...string) func(Entry) (Record, error) {
	return func(before Entry) (Record, error) {
		if !before.Exists() {
			return Record{}, fmt.Errorf("%w: %s", ErrUnknown, before.Key)
		}
		if reason == "" && len(successors) == 0 {
			return Record{}, Invalid("reason_missing", "reason", "withdrawing %s needs a reason: it is what people are told for decades", before.Key)
		}
		record := before.Record
		if reason == "" && before.Status == Withdrawn {
			reason = before.Reason
		}
		record.Status, record.Reason, record.Successors = Withdrawn, reason, successors
		return record, nil
	}
}

// Supersede returns the edits that withdraw names in favour of others: a merge has several old
// ones, a split several new ones. A note is required.
func Supersede(old, successors []string, reason, note string) ([]Edit, error) {
	switch {
	case len(old) == 0 || len(successors) == 0:
		return nil, Invalid("superseding_nothing", "successors", "superseding needs names and successors")
	case note == "":
		return nil, Invalid("note_missing", "note", "superseding needs a note")
	}
	edits := make([]Edit, len(old))
	for i, name := range old {
		edits[i] = Edit{Key: Name(name), IfVersion: Any, Note: note, Change: Withdraw(reason, successors...)}
	}
	return edits, nil
}

// Apply makes edits in one transaction: all or none. It returns the entries as they are then,
// those that an edit does not change in their old version. The audit sees what has changed.
func (r *Registry) Apply(ctx context.Context, actor Actor, edits ...Edit) ([]Entry, error) {
	edits, err := r.canonicalEdits(actor, edits)
	if err != nil {
		return nil, err
	}
	var after []Entry
	changes, err := r.Change(ctx, actor, func(_ WriteTx, w *Batch) error {
		after = nil
		for _, edit := range edits {
			e, err := w.edit(edit)
			if err != nil {
				return err
			}
			after = append(after, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// Entries got their Seq when they were appended.
	for i := range after {
		for _, c := range changes {
			if c.After.Key == after[i].Key {
				after[i] = c.After
			}
		}
	}
	return after, nil
}

// Change calls f with a batch in one transaction, writes what f has put into it, all or nothing, and returns what has
// changed, which the audit sees. f may be called more than once; what it puts was checked by its caller.
func (r *Registry) Change(ctx context.Context, actor Actor, f func(tx WriteTx, w *Batch) error) (changes []Changed, err error) {
	err = r.config.Store.Write(ctx, func(tx WriteTx) error {
		w := NewBatch(tx, actor.Name, r.Now())
		if err := f(tx, w); err != nil {
			return err
		}
		changes, err = w.Flush()
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.config.Audit != nil && len(changes) > 0 {
		r.config.Audit(ctx, actor, changes)
	}
	return changes, nil
}

// canonicalEdits returns edits of canonical keys, if the actor may make them.
func (r *Registry) canonicalEdits(actor Actor, edits []Edit) ([]Edit, error) {
	canonical := make([]Edit, len(edits))
	for i, edit := range edits {
		var err error
		if edit.Key, err = r.CanonicalKey(edit.Key); err != nil {
			return nil, err
		}
		if err := actor.May(edit.Key.Needs(), edit.Key); err != nil {
			return nil, err
		}
		change := edit.Change
		edit.Change = func(before Entry) (Record, error) {
			record, err := change(before)
			if err == nil {
				record, err = r.Check(edit.Key, record)
			}
			if err == nil {
				err = r.CheckChange(before, edit.Key, record, edit.AllowUnresolvable)
			}
			return record, err
		}
		canonical[i] = edit
	}
	return canonical, nil
}

// Purge removes names and prefixes of a sandbox with all their versions: those that begin with a
// prefix. It returns how many there were. What it removes is one change set, with a note that says why, which may be "".
// The audit sees them with a zero After but for its Key.
func (r *Registry) Purge(ctx context.Context, actor Actor, prefix, note string) (n int, err error) {
	if err := actor.May(Admin, Prefix(prefix)); err != nil {
		return 0, err
	}
	if err := CheckText("note", note, MaxText); err != nil {
		return 0, err
	}
	set := ChangeSet{Kind: KindPurge, By: actor.Name, Note: note, Time: r.Now()}
	for _, kind := range []Kind{KindName, KindPrefix} {
		for after := ""; ; {
			removed, last, err := r.purgePage(ctx, &set, kind, prefix, after)
			if err != nil {
				return n, err
			}
			if r.config.Audit != nil && len(removed) > 0 {
				r.config.Audit(ctx, actor, removed)
			}
			n += len(removed)
			if last == "" {
				break
			}
			after = last
		}
	}
	return n, nil
}

// purgePage removes what is in a sandbox of the next purgePage entries after a name. It returns what it removed, and
// the last name, "" where it was the last page.
func (r *Registry) purgePage(
	ctx context.Context, set *ChangeSet, kind Kind, prefix, after string,
) (removed []Changed, last string, err error) {
	next := *set
	err = r.config.Store.Write(ctx, func(tx WriteTx) error {
		removed, last = nil, ""
		entries, err := tx.List(kind, prefix, after, purgePage)
		if err != nil {
			return err
		}
		w := NewBatch(tx, set.By, set.Time)
		w.Into(*set)
		for _, e := range entries {
			if e.Sandbox {
				w.remove(e)
				removed = append(removed, Changed{Before: e, After: Entry{Key: e.Key}})
			}
		}
		if len(entries) == purgePage {
			last = entries[purgePage-1].Name
		}
		_, err = w.Flush()
		next = w.Set()
		return err
	})
	if err == nil {
		*set = next
	}
	return removed, last, err
}

const purgePage = 1000

// sinceOf returns since when an entry has a status, which it gets now where it had another.
func sinceOf(before *Entry, status Status, now time.Time) time.Time {
	if before.Exists() && before.Status == status {
		return before.Since
	}
	return now
}
