package rename

import (
	"context"

	"github.com/urnd/urnd/resolver/registry"
)

// Run renames what is registered by other names than the canonical ones. What collides stays as it is, reachable as it was registered,
// until Resolve decides. It goes page by page, each in a transaction: one that is interrupted goes on where it was.
type Run struct {
	Config
	Actor registry.Actor
	Note  string // of the versions that it makes
	// DryRun is to find out what would be done.
	DryRun  bool
	Resolve Resolve // nil decides nothing
	// Moved moves what is stored of a name beside its entry, in the transaction by which that gets another one; nil moves nothing.
	Moved func(tx registry.WriteTx, from, to string) error
	// Report is called with what was done, or would be, to each entry.
	Report func(Action) error
}

// Summary is how many entries a Run has seen.
type Summary struct {
	Set  registry.ChangeSet // that was made; its number is 0 where nothing was changed
	Seen map[What]int64
}

// Do runs a Run. The error is that of the store, or of Report; what was done before stays.
func (r Run) Do(ctx context.Context) (Summary, error) {
	sum := Summary{Seen: make(map[What]int64)}
	if err := r.Actor.May(registry.Admin, registry.Key{}); err != nil {
		return sum, err
	}
	report := func(a Action) error {
		sum.Seen[a.What]++
		return r.Report(a)
	}
	if r.Resolve == nil {
		r.Resolve = func(Group) (registry.Key, bool) { return registry.Key{}, false }
	}
	if r.Moved == nil {
		r.Moved = func(registry.WriteTx, string, string) error { return nil }
	}
	r.Left = func(key registry.Key, why error) error {
		return report(Action{Entry: registry.Entry{Key: key}, What: Left, Why: why.Error()})
	}
	sum.Set = registry.ChangeSet{Kind: registry.KindMigrate, By: r.Actor.Name, Note: r.Note, Time: r.Registry.Now()}
	err := r.each(ctx, func(groups []Group) error {
		pages := make([][]Action, len(groups))
		for i := range groups {
			pages[i] = groups[i].decide(r.Resolve)
		}
		if err := r.write(ctx, &sum.Set, pages); err != nil {
			return err
		}
		for _, actions := range pages {
			for _, a := range actions {
				if err := report(a); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return sum, err
}

// write makes the changes of groups, all in one transaction. Where one is refused, each has a transaction of its own, and what is refused
// says why.
func (r Run) write(ctx context.Context, set *registry.ChangeSet, groups [][]Action) error {
	if r.DryRun {
		return nil
	}
	err := r.change(ctx, set, groups)
	if err == nil || !isRefused(err) {
		return err
	}
	for _, actions := range groups {
		err := r.change(ctx, set, [][]Action{actions})
		if err != nil && !isRefused(err) {
			return err
		}
		for i := range actions {
			if err != nil {
				actions[i].What, actions[i].Why = Collision, err.Error()
			}
		}
	}
	return nil
}

func (r Run) change(ctx context.Context, set *registry.ChangeSet, groups [][]Action) error {
	var batch *registry.Batch
	_, err := r.Registry.Change(ctx, r.Actor, func(tx registry.WriteTx, b *registry.Batch) error {
		batch = b
		b.Into(*set)
		for _, actions := range groups {
			if actions[0].What == Collision {
				continue
			}
			if err := do(tx, b, actions, r.Note, r.Moved); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		*set = batch.Set()
	}
	return err
}
