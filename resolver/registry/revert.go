package registry

import (
	"context"
	"errors"
	"fmt"
	"sort"
)

// Revert takes a change set back: what it changed becomes as it was before, by new versions, which are a change set of
// their own. A name that it made is withdrawn, since none is unassigned. What was changed again since, or cannot be as it was, is a
// conflict, and stays.
type Revert struct {
	Set  Seq
	Note string // why, which is also the reason of names that are withdrawn
	// DryRun is to find out what would be done, and write nothing.
	DryRun bool
	// Reverted and Conflict are called for each key, one at a time; nil is not called.
	Reverted func(Changed)
	Conflict func(key Key, err error)
}

// Reverted says how many keys a Revert has changed, and how many it has not.
type Reverted struct {
	Set       ChangeSet // that was made; its number is 0 where nothing was changed
	Names     int64
	Conflicts int64
}

// revertPage is how many rows are taken back in a transaction.
const revertPage = 10_000

// Revert runs a Revert. Where it returns an error, what was taken back before is there; it can be run again, and goes on with the rest.
func (r *Registry) Revert(ctx context.Context, actor Actor, revert Revert) (report Reverted, err error) {
	if err := actor.May(Admin, Key{}); err != nil {
		return report, err
	}
	if revert.Note == "" {
		return report, Invalid("note_missing", "note", "reverting needs a note, which is the reason of what is withdrawn by it")
	}
	run := &reverting{Revert: revert, registry: r, actor: actor}
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		if run.of, err = tx.ChangeSet(revert.Set); err == nil {
			run.spans, err = spansOf(tx, run.of)
		}
		return err
	})
	if err != nil {
		return report, err
	}
	run.report.Set = ChangeSet{Kind: KindRevert, By: actor.Name, Note: revert.Note, Time: r.Now(), Reverts: revert.Set}
	for _, s := range run.spans {
		for next := s.first; next <= s.last; next += revertPage {
			if err := run.page(ctx, span{next, min(next+revertPage-1, s.last)}); err != nil {
				return run.report, err
			}
		}
	}
	return run.report, nil
}

// reverting is a Revert that runs.
type reverting struct {
	Revert
	registry *Registry
	actor    Actor
	of       ChangeSet
	spans    []span
	report   Reverted
	earlier  span // of the last commit by an earlier run
}

// has reports whether a Seq is of the change set.
func (r *reverting) has(seq Seq) bool {
	i := sort.Search(len(r.spans), func(i int) bool { return r.spans[i].last >= seq })
	return i < len(r.spans) && r.spans[i].first <= seq
}

// page takes back the rows of a span.
func (r *reverting) page(ctx context.Context, s span) error {
	var conflicts []func()
	var names int64
	var changes []Changed
	set := r.report.Set
	transaction := func(tx WriteTx) error {
		conflicts, names, changes = nil, 0, nil
		w := NewBatch(tx, r.actor.Name, set.Time)
		w.Into(r.report.Set)
		for rest := s; rest.first <= rest.last; {
			page, next, err := r.first(tx, rest)
			if err != nil {
				return err
			}
			keys := make([]Key, len(page))
			for i := range page {
				keys[i] = page[i].After.Key
			}
			if err := w.Load(keys); err != nil { // one by one they take a round trip each, in which nobody else can write
				return err
			}
			for i := range page {
				c := &page[i]
				reverted, err := r.change(tx, w, c)
				switch {
				case errors.Is(err, ErrInvalid) || errors.Is(err, ErrConflict) || errors.Is(err, ErrUnknown):
					conflicts = append(conflicts, func() { r.conflict(c.After.Key, err) })
				case err != nil:
					return err
				case reverted:
					names++
				}
			}
			rest.first = next
		}
		if r.DryRun {
			changes = w.Changes()
			return nil
		}
		var err error
		changes, err = w.Flush()
		set = w.Set()
		return err
	}
	if err := r.write(ctx, transaction); err != nil {
		return err
	}
	r.show(ctx, changes)
	r.report.Names += names
	r.report.Set = set
	for _, conflict := range conflicts {
		conflict()
	}
	return nil
}

// write calls f in a transaction, which writes nothing in a dry run.
func (r *reverting) write(ctx context.Context, f func(WriteTx) error) error {
	store := r.registry.config.Store
	if r.DryRun {
		return store.Read(ctx, func(tx Tx) error { return f(ReadOnly(tx)) })
	}
	return store.Write(ctx, f)
}

func (r *reverting) conflict(key Key, err error) {
	r.report.Conflicts++
	if r.Conflict != nil {
		r.Conflict(key, err)
	}
}

// show passes on what was written.
func (r *reverting) show(ctx context.Context, changes []Changed) {
	if audit := r.registry.config.Audit; audit != nil && !r.DryRun && len(changes) > 0 {
		audit(ctx, r.actor, changes)
	}
	if r.Reverted != nil {
		for _, c := range changes {
			r.Reverted(c)
		}
	}
}

// isTakenBack reports whether the current version of a key was made by an earlier run of this revert.
func (r *reverting) isTakenBack(tx Tx, now *Entry) (bool, error) {
	if now.Seq == 0 {
		return false, nil
	}
	if r.earlier.first <= now.Seq && now.Seq <= r.earlier.last {
		return true, nil
	}
	of, err := commitOf(tx, now.Seq)
	if err != nil {
		return false, err
	}
	set, err := tx.ChangeSet(of.Set)
	if err != nil || set.Kind != KindRevert || set.Reverts != r.Set {
		return false, err
	}
	r.earlier = span{of.First, of.Last}
	return true, nil
}

// first returns the first changes of a span, without those of keys that the set has changed before, and where the rest of it begins. The
// first version of a key in the set leads to what was before it.
func (r *reverting) first(tx Tx, s span) (changes []Changed, next Seq, err error) {
	events, next, err := eventsIn(tx, s)
	if err != nil {
		return nil, 0, err
	}
	var versions []Entry
	for i := range events {
		versions = append(versions, events[i].Version) // the zero value has none before it
	}
	before, err := tx.Before(versions)
	if err != nil {
		return nil, 0, err
	}
	for i := range events {
		if r.has(before[i].Seq) {
			continue
		}
		c := Changed{before[i], events[i].Version}
		c.After.Key = events[i].Key
		changes = append(changes, c)
	}
	return changes, next, nil
}

// change takes back the first version of a key in the set.
func (r *reverting) change(tx Tx, w *Batch, c *Changed) (reverted bool, err error) {
	if !c.After.Exists() {
		return false, fmt.Errorf("%w: what was purged or redacted does not come back", ErrConflict)
	}
	now, err := w.Get(c.After.Key)
	if err != nil {
		return false, err
	}
	if !r.has(now.Seq) {
		if taken, err := r.isTakenBack(tx, &now); taken || err != nil {
			return false, err
		}
		return false, fmt.Errorf("%w: it was changed since, by %s at %s", ErrConflict, now.By, now.Changed.Format("2006-01-02 15:04:05"))
	}
	record := now.Record
	switch {
	case !c.Before.Exists():
		record.Status, record.Reason, record.Successors = Withdrawn, r.Note, nil
	case c.Before.Redacted:
		return false, fmt.Errorf("%w: what it was before is redacted", ErrConflict)
	default:
		record = c.Before.Record
	}
	_, reverted, err = w.PutIf(c.After.Key, record, r.Note, false, anyChange)
	return reverted, err
}
