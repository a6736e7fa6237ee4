package registry

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// AnyVersion is the IfVersion of an Edit that applies to any current version.
const AnyVersion = -1

// Edit changes a single entry. Its name need not be canonical.
type Edit struct {
	Key Key
	// IfVersion is a precondition: the version that must be current. 0 requires that the entry does not exist,
	// AnyVersion always holds.
	IfVersion int
	Note      string // reason for the change
	// KeepNote makes a version for a new note even if the record is unchanged.
	KeepNote bool
	// Activate permits that a withdrawn entry becomes active again. It must be an explicit choice of the
	// author.
	Activate bool
	// OutsideSandbox keeps a prefix out of the sandbox of a shorter prefix; otherwise it inherits that sandbox.
	OutsideSandbox bool
	// AllowUnresolvable accepts a name outside of the owned prefixes.
	AllowUnresolvable bool
	// Change returns the new record. before is the zero value, except for its Key, for a new entry. Change may
	// be called more than once.
	Change func(before Entry) (Record, error)
}

// Put returns a Change that replaces the record unconditionally.
func Put(record Record) func(Entry) (Record, error) {
	return func(Entry) (Record, error) { return record, nil }
}

// Activated returns a record with its default status: a reserved entry becomes active when its targets change,
// or when it becomes an alias.
func Activated(before Entry, record Record) Record {
	leads := len(record.Targets) > 0 && !slices.EqualFunc(before.Targets, record.Targets, Target.Equal)
	aliased := record.Alias != "" && record.Alias != before.Alias
	if before.Exists() && before.Status == Reserved && record.Status == Reserved && (leads || aliased) {
		record.Status = Active
	}
	return record
}

// Withdraw returns a Change that withdraws an entry. Its targets stay in the record, but it no longer resolves
// to them. Successors are URIs that replace it.
func Withdraw(reason string, successors ...string) func(Entry) (Record, error) {
	return func(before Entry) (Record, error) {
		if !before.Exists() {
			return Record{}, fmt.Errorf("%w: %s", ErrUnknown, before.Key)
		}
		if reason == "" && len(successors) == 0 {
			return Record{}, Invalid("reason_missing", "reason",
				"withdrawing %s requires a reason: the page of the name shows it from now on", before.Key)
		}
		record := before.Record
		if reason == "" && before.Status == Withdrawn {
			reason = before.Reason
		}
		record.Status, record.Reason, record.Successors = Withdrawn, reason, successors
		return record, nil
	}
}

// Supersede returns the edits that withdraw names in favour of successors: a merge has several old names, a
// split several successors. The note is required.
func Supersede(old, successors []string, reason, note string) ([]Edit, error) {
	switch {
	case len(old) == 0 || len(successors) == 0:
		return nil, Invalid("superseding_nothing", "successors", "superseding requires names and successors")
	case note == "":
		return nil, Invalid("note_missing", "note", "superseding requires a note")
	}
	edits := make([]Edit, len(old))
	for i, name := range old {
		edits[i] = Edit{Key: Name(name), IfVersion: AnyVersion, Note: note, Change: Withdraw(reason, successors...)}
	}
	return edits, nil
}

// Apply makes edits in one transaction: all or none. It returns the resulting entries; an entry that an edit
// does not change keeps its version. The audit receives the changes.
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
	// The entries got their Seq when they were appended.
	for i := range after {
		for _, c := range changes {
			if c.After.Key == after[i].Key {
				after[i] = c.After
			}
		}
	}
	return after, nil
}

// Change calls f with a batch in one transaction, writes the batch (all or nothing), and returns its changes,
// which the audit receives. f may be called more than once. f must put only records that were checked.
func (r *Registry) Change(
	ctx context.Context, actor Actor, f func(tx WriteTx, w *Batch) error,
) (changes []Changed, err error) {
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

// canonicalEdits returns the edits with canonical keys and checked records, or ErrDenied if the actor lacks
// permission.
func (r *Registry) canonicalEdits(actor Actor, edits []Edit) ([]Edit, error) {
	canonical := make([]Edit, len(edits))
	for i, edit := range edits {
		var err error
		if edit.Key, err = r.CanonicalKey(edit.Key); err != nil {
			return nil, err
		}
		if err := actor.CheckRole(edit.Key.RequiredRole(), edit.Key); err != nil {
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

// Purge removes the names and prefixes of sandboxes that begin with a prefix, with all of their versions, and
// returns their number. All removals are one change set, whose note may be "". The audit receives each with an
// After that is the zero value except for its Key.
func (r *Registry) Purge(ctx context.Context, actor Actor, prefix, note string) (n int, err error) {
	if err := actor.CheckRole(Admin, Prefix(prefix)); err != nil {
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

// purgePage purges the sandboxed entries among the next entries after a name, at most the constant purgePage.
// It returns the purged entries and the last name that was read, "" for the last page.
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
		w.SetChangeSet(*set)
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
		next = w.ChangeSet()
		return err
	})
	if err == nil {
		*set = next
	}
	return removed, last, err
}

const purgePage = 1000

// sinceOf returns the time at which an entry assumed a status: now if its previous status was another.
func sinceOf(before *Entry, status Status, now time.Time) time.Time {
	if before.Exists() && before.Status == status {
		return before.Since
	}
	return now
}
