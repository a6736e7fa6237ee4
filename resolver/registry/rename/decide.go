package rename

import (
	"errors"
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
)

// What is one of what happens to an entry.
type What string

// What happens to entries.
const (
	Rename    What = "rename"    // it gets its canonical name
	Collision What = "collision" // another entry has or would get that name: both stay until it is decided which one has it
	Keep      What = "keep"      // it has its canonical name, and stays as it is
	Replace   What = "replace"   // it has the canonical name, and becomes what another entry of the group is
	Merge     What = "merge"     // its canonical name becomes what it is, and it an alias of that
	Alias     What = "alias"     // it becomes an alias of its canonical name
	Left      What = "left"      // it has no canonical name by the rules of today, and stays
)

// Action is what happens to an entry.
type Action struct {
	registry.Entry
	To   registry.Key // the canonical key; the zero value for Left
	What What
	Why  string // of Left, and of what could not be done
}

// Resolve decides which entry of a group that collides has the name from now on; ok is false where that is not decided.
type Resolve func(Group) (key registry.Key, ok bool)

// Newest is the Resolve by which the entry that was changed last has the name.
func Newest(g Group) (key registry.Key, ok bool) {
	last := g.Entries[0]
	for _, e := range g.Entries[1:] {
		if e.Seq > last.Seq {
			last = e
		}
	}
	return last.Key, true
}

// decide returns what happens to the entries of a group.
func (g *Group) decide(resolve Resolve) []Action {
	if len(g.Entries) == 1 {
		return []Action{{Entry: g.Entries[0], To: g.To, What: Rename}}
	}
	keep, ok := resolve(*g)
	if ok {
		ok = g.has(keep)
	}
	has := g.has(g.To)
	actions := make([]Action, len(g.Entries))
	for i, e := range g.Entries {
		actions[i] = Action{Entry: e, To: g.To, What: Alias}
		switch a := &actions[i]; {
		case !ok:
			a.What = Collision
		case e.Key == keep && keep == g.To:
			a.What = Keep
		case e.Key == keep && has:
			a.What = Merge
		case e.Key == keep:
			a.What = Rename
		case e.Key == g.To:
			a.What = Replace
		}
	}
	return actions
}

// unchanged returns an error where an entry is not what was looked at.
func unchanged(b *registry.Batch, actions []Action) error {
	for _, a := range actions {
		now, err := b.Get(a.Key)
		if err != nil {
			return err
		}
		if now.Seq != a.Seq {
			return fmt.Errorf("%w: it was changed meanwhile: run the command again", registry.ErrConflict)
		}
	}
	return nil
}

// do makes the changes of actions of one group in a batch.
func do(tx registry.WriteTx, b *registry.Batch, actions []Action, note string, moved func(tx registry.WriteTx, from, to string) error) error {
	if err := unchanged(b, actions); err != nil {
		return err
	}
	for _, a := range actions { // first the one that has the name
		var err error
		switch a.What {
		case Rename:
			_, err = b.Rename(a.Key, a.To, note)
		case Merge:
			_, _, err = b.Put(a.To, a.Record, note)
		default:
			continue
		}
		if err != nil {
			return err
		}
	}
	for _, a := range actions {
		if a.What == Alias || a.What == Merge {
			if err := stand(b, a, note); err != nil {
				return err
			}
		}
		if a.What != Keep && a.What != Replace && a.Kind == registry.KindName {
			if err := moved(tx, a.Name, a.To.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// stand makes an entry stand for its canonical name. A prefix cannot be an alias.
func stand(b *registry.Batch, a Action, note string) error {
	record := registry.Record{Alias: a.To.Name}
	if a.Kind == registry.KindPrefix {
		record = a.Record
		record.Status, record.Reason, record.Successors = registry.Withdrawn, prefixReason(a.To), nil
	} else if err := b.Lead(a.Key, a.To.Name, note); err != nil {
		return err
	}
	_, _, err := b.Put(a.Key, record, note)
	return err
}

// isRefused reports whether an error is about the names themselves.
func isRefused(err error) bool {
	return errors.Is(err, registry.ErrConflict) || errors.Is(err, registry.ErrInvalid) || errors.Is(err, registry.ErrUnknown)
}
