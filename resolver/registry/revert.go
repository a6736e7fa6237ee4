package registry

import (
	"context"
	"errors"
	"fmt"
	"sort"
)

// Revert reverts a change set: it restores the previous records by new versions, which form a change set of
// their own. A name that the set created is withdrawn, since no name is ever unassigned. A key that was changed
// again meanwhile, or whose previous record is no longer valid, is a conflict and is left unchanged.
type Revert struct {
	Set  Seq
	Note string // reason, also of the withdrawal of created names
	// DryRun reports what would be changed, and writes nothing.
	DryRun bool
	// Reverted and Conflict are called for each key; calls are serialized. They may be nil.
	Reverted func(Changed)
	Conflict func(key Key, err error)
}

// RevertResult is the result of a Revert: the numbers of keys that were reverted and that were not.
type RevertResult struct {
	Set       ChangeSet // the new change set; its Number is 0 if nothing was changed
	Names     int64
	Conflicts int64
}

// revertPage is how many versions and events are reverted per transaction.
const revertPage = 10_000

// Revert runs a Revert. If it returns an error, the transactions before it are committed; another run continues
// with the rest.
func (r *Registry) Revert(ctx context.Context, actor Actor, revert Revert) (report RevertResult, err error) {
	if err := actor.CheckRole(Admin, Key{}); err != nil {
		return report, err
	}
	if revert.Note == "" {
		return report, Invalid("note_missing", "note", "reverting requires a note: the reason of withdrawals")
	}
	run := &revertRun{Revert: revert, registry: r, actor: actor}
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

// revertRun is a running Revert.
type revertRun struct {
	Revert
	registry *Registry
	actor    Actor
	of       ChangeSet
	spans    []span
	report   RevertResult
	earlier  span // last commit of an earlier run that was found
}

// has reports whether a Seq belongs to the change set.
func (r *revertRun) has(seq Seq) bool {
	i := sort.Search(len(r.spans), func(i int) bool { return r.spans[i].last >= seq })
	return i < len(r.spans) && r.spans[i].first <= seq
}

// page reverts the versions of a span, in one transaction.
func (r *revertRun) page(ctx context.Context, s span) error {
	var conflicts []func()
	var names int64
	var changes []Changed
	set := r.report.Set
	transaction := func(tx WriteTx) error {
		conflicts, names, changes = nil, 0, nil
		w := NewBatch(tx, r.actor.Name, set.Time)
		w.SetChangeSet(r.report.Set)
		for rest := s; rest.first <= rest.last; {
			page, next, err := r.first(tx, rest)
			if err != nil {
				return err
			}
			keys := make([]Key, len(page))
			for i := range page {
				keys[i] = page[i].After.Key
			}
			if err := w.Load(keys); err != nil { // one round trip per key would block other writers for long
				return err
			}
			reverted, failed, err := r.changeAll(tx, w, page)
			if err != nil {
				return err
			}
			names += reverted
			conflicts = append(conflicts, failed...)
			rest.first = next
		}
		if r.DryRun {
			changes = w.Changes()
			return nil
		}
		var err error
		changes, err = w.Flush()
		set = w.ChangeSet()
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
func (r *revertRun) write(ctx context.Context, f func(WriteTx) error) error {
	store := r.registry.config.Store
	if r.DryRun {
		return store.Read(ctx, func(tx Tx) error { return f(DryRunTx(tx)) })
	}
	return store.Write(ctx, f)
}

func (r *revertRun) conflict(key Key, err error) {
	r.report.Conflicts++
	if r.Conflict != nil {
		r.Conflict(key, err)
	}
}

// show reports the changes to the audit and to Reverted.
func (r *revertRun) show(ctx context.Context, changes []Changed) {
	if audit := r.registry.config.Audit; audit != nil && !r.DryRun && len(changes) > 0 {
		audit(ctx, r.actor, changes)
	}
	if r.Reverted != nil {
		for _, c := range changes {
			r.Reverted(c)
		}
	}
}

// reverted reports whether the current version of a key was made by an earlier run of the same revert.
func (r *revertRun) reverted(tx Tx, now *Entry) (bool, error) {
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

// first returns the first page of changes of a span, without those of keys that the set changed earlier, and
// the Seq where the rest of the span begins. Of each key only the first version in the set is needed: its
// predecessor is the record to restore.
func (r *revertRun) first(tx Tx, s span) (changes []Changed, next Seq, err error) {
	events, next, err := eventsIn(tx, s)
	if err != nil {
		return nil, 0, err
	}
	var versions []Entry
	for i := range events {
		versions = append(versions, events[i].Version) // the zero value has no predecessor
	}
	before, err := tx.Predecessors(versions)
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

// changeAll reverts a page of changes. It returns the number of keys that were reverted, and functions that report the
// others as conflicts. What the aliases of other names prevent is tried again after these.
func (r *revertRun) changeAll(tx Tx, w *Batch, page []Changed) (names int64, conflicts []func(), err error) {
	todo := make([]*Changed, len(page))
	for i := range page {
		todo[i] = &page[i]
	}
	for pass := 0; len(todo) > 0; pass++ {
		var later []*Changed
		for _, c := range todo {
			reverted, err := r.change(tx, w, c)
			switch {
			case pass < MaxAliases && IsOfAliases(err):
				later = append(later, c)
			case errors.Is(err, ErrInvalid) || errors.Is(err, ErrConflict) || errors.Is(err, ErrUnknown):
				conflicts = append(conflicts, func() { r.conflict(c.After.Key, err) })
			case err != nil:
				return 0, nil, err
			case reverted:
				names++
			}
		}
		todo = later
	}
	return names, conflicts, nil
}

// change reverts a key, given its first version in the set.
func (r *revertRun) change(tx Tx, w *Batch, c *Changed) (reverted bool, err error) {
	if !c.After.Exists() {
		return false, fmt.Errorf("%w: purged and redacted versions cannot be restored", ErrConflict)
	}
	now, err := w.Get(c.After.Key)
	if err != nil {
		return false, err
	}
	if !r.has(now.Seq) {
		if taken, err := r.reverted(tx, &now); taken || err != nil {
			return false, err
		}
		return false, fmt.Errorf("%w: changed since, by %s at %s", ErrConflict, now.By,
			now.Changed.Format("2006-01-02 15:04:05"))
	}
	record := now.Record
	switch {
	case !c.Before.Exists():
		record.Status, record.Reason, record.Successors = Withdrawn, r.Note, nil
	case c.Before.Redacted:
		return false, fmt.Errorf("%w: previous version redacted", ErrConflict)
	default:
		record = c.Before.Record
	}
	_, reverted, err = w.PutIf(c.After.Key, record, r.Note, false, anyChange)
	return reverted, err
}
