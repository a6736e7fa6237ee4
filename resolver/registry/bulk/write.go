package bulk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite/sorter"
)

// defaultTransaction is the default number of units in a transaction while nobody else writes.
const defaultTransaction = 10_000

// batch is the content of one transaction.
type batch struct {
	records  []mergedRecord
	lines    int64
	rejected []Rejection // lines that contradict others
	last     bool
	err      error
}

// batches groups the units after a position into batches, until ctx ends.
func batches(ctx context.Context, sorted *sorter.Sorter, after string, size func() int) <-chan batch {
	c := make(chan batch, 1)
	go func() {
		defer close(c)
		var b batch
		u := &recordMerger{sorted: sorted, reject: func(r Rejection) { b.rejected = append(b.rejected, r) }}
		for !b.last && b.err == nil {
			most := size()
			b = batch{records: make([]mergedRecord, 0, most)}
			for len(b.records) < most && !b.last && b.err == nil {
				next, err := u.next()
				switch {
				case errors.Is(err, io.EOF):
					b.last = true
				case err != nil:
					b.err = err
				default:
					b.lines += next.lines
					if string(next.order) > after {
						b.records = append(b.records, next)
					} else {
						b.rejected = b.rejected[:0] // counted before the interruption
					}
				}
			}
			select {
			case c <- b:
			case <-ctx.Done():
				return
			}
		}
	}()
	return c
}

// write writes the sorted units. If ctx ends, it stops after the current transaction.
func (r *run) write(ctx context.Context, digest string) error {
	p, err := r.position(ctx, digest)
	if err != nil || p.Done {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	size := r.Transaction
	if size <= 0 {
		size = defaultTransaction
	}
	r.pace = newPace(size)
	all := batches(ctx, r.sorted, string(p.After), func() int { return int(r.pace.size.Load()) })
	defer func() {
		cancel()
		for range all {
		}
	}()
	var lines int64
	for b := range all {
		if b.err != nil {
			return b.err
		}
		if err := r.writeBatch(context.WithoutCancel(ctx), &p, b); err != nil {
			return err
		}
		lines += b.lines
		r.progress(Progress{Stage: Writing, Lines: r.report.Lines, Done: lines, Total: r.merger})
		if !r.DryRun && !b.last {
			r.pace.rest(ctx)
		}
		if b.last {
			return nil
		}
	}
	return ctx.Err()
}

// writeBatch writes a batch and the position of the import in one transaction.
func (r *run) writeBatch(ctx context.Context, p *position, b batch) error {
	if len(b.records) == 0 && len(b.rejected) == 0 && (!b.last || r.Source == "") {
		return nil
	}
	var next position
	var rejected []Rejection
	err := r.transaction(b.last)(ctx, func(tx registry.WriteTx) error {
		if err := r.checkPosition(tx, p); err != nil {
			return err
		}
		if err := r.pace.look(tx); err != nil {
			return err
		}
		next, rejected = *p, nil
		w := registry.NewBatch(tx, r.Actor.Name, p.Started)
		w.SetChangeSet(r.set(&next))
		var err error
		if rejected, err = r.applyAll(tx, w, b.records, &next); err != nil {
			return err
		}
		next.Set = w.ChangeSet()
		next.Rejected += int64(len(b.rejected))
		if len(b.records) > 0 {
			next.After = b.records[len(b.records)-1].order
		}
		return r.putPosition(tx, &next, b.last)
	})
	if err != nil {
		return fmt.Errorf("writing into the registry: %w", err)
	}
	*p = next
	r.pace.wrote(p.Set.Last)
	r.show(p)
	if r.Rejected != nil {
		for _, rejection := range append(b.rejected, rejected...) {
			r.Rejected(rejection)
		}
	}
	return nil
}

// set returns the change set of an import, a new one at its first batch.
func (r *run) set(p *position) registry.ChangeSet {
	if p.Set.Number != 0 {
		return p.Set
	}
	return registry.ChangeSet{Kind: registry.KindImport, By: r.Actor.Name, Note: r.Note, Time: p.Started}
}

// applyAll applies units and counts them. It returns the rejected ones.
func (r *run) applyAll(
	tx registry.Tx, w *registry.Batch, units []mergedRecord, p *position,
) (rejected []Rejection, err error) {
	if err := w.Load(keysOf(units)); err != nil {
		return nil, err
	}
	todo := make([]*mergedRecord, len(units))
	for i := range units {
		todo[i] = &units[i]
	}
	for pass := 0; len(todo) > 0; pass++ {
		var later []*mergedRecord
		for _, u := range todo {
			before, err := w.Get(u.entry.Key)
			changed := false
			if err == nil {
				changed, err = r.apply(tx, w, u, before, p)
			}
			switch {
			case err == nil:
				p.count(before, changed)
			case pass < registry.MaxAliases && !u.superseded && registry.IsOfAliases(err):
				later = append(later, u)
			case isOfLine(err):
				rejected = append(rejected, Rejection{Line: u.number, Input: u.entry.String(), Reason: err})
				p.Rejected += u.lines - u.rejected
			default:
				return nil, err
			}
		}
		todo = later
	}
	if !r.DryRun {
		_, err = w.Flush()
	} else if r.Changed != nil {
		for _, c := range w.Changes() {
			r.Changed(c)
		}
	}
	return rejected, err
}

// isOfLine reports whether an error rejects a line only.
func isOfLine(err error) bool {
	return errors.Is(err, registry.ErrInvalid) || errors.Is(err, registry.ErrConflict) ||
		errors.Is(err, registry.ErrDenied)
}

// transaction returns the function that writes a batch. Only the last transaction is synced to disk, which
// makes all of them durable.
func (r *run) transaction(last bool) func(context.Context, func(registry.WriteTx) error) error {
	store := r.Registry.Store()
	switch {
	case r.DryRun:
		return func(ctx context.Context, f func(registry.WriteTx) error) error {
			return store.Read(ctx, func(tx registry.Tx) error { return f(registry.DryRunTx(tx)) })
		}
	case last:
		return store.Write
	default:
		return store.Bulk
	}
}

func keysOf(units []mergedRecord) []registry.Key {
	keys := make([]registry.Key, 0, len(units))
	for i := range units {
		if key := units[i].entry.Key; len(keys) == 0 || keys[len(keys)-1] != key {
			keys = append(keys, key)
		}
	}
	return keys
}

// apply applies a unit, and reports whether it changed the registry.
func (r *run) apply(
	tx registry.Tx, w *registry.Batch, u *mergedRecord, before registry.Entry, p *position,
) (changed bool, err error) {
	if u.full() {
		return r.applyFull(tx, w, u, before, p)
	}
	record := u.override(before.Record)
	if !u.fields.has(fieldStatus) {
		record = registry.Activated(before, record)
	}
	if u.lines > 1 || before.Exists() {
		if record, err = r.Registry.Check(u.entry.Key, record); err != nil {
			return false, err
		}
	}
	if err := r.Registry.CheckChange(before, u.entry.Key, record, r.AllowUnresolvable); err != nil {
		return false, err
	}
	return r.put(w, u, record, u.entry.Note)
}

// put writes the record of a unit as the current version, if the unit may change the current entry.
func (r *run) put(w *registry.Batch, u *mergedRecord, record registry.Record, note string) (changed bool, err error) {
	outside := u.fields.has(fieldSandbox) && !u.entry.Sandbox
	_, changed, err = w.PutIf(u.entry.Key, record, cmp.Or(note, r.Note), outside,
		func(before registry.Entry, after registry.Record) error {
			return r.mayChange(u, before, after)
		})
	return changed, err
}
