package registry

import (
	"context"
	"errors"
	"strings"
	"time"
)

// ChangeSet groups changes that were made together: by an import, a job, a command, or a single request.
type ChangeSet struct {
	// Number identifies the set: it is the Seq of its first version or event. 0 is a new set.
	Number Seq `json:"number"`
	// Last is the Seq of its last version or event so far. Those of an import may be interleaved with other
	// sets.
	Last Seq       `json:"last"`
	Rows int64     `json:"rows"` // number of its versions, purges and redactions
	Kind string    `json:"kind"` // kind of operation, such as import; "" is a single change
	By   string    `json:"by"`
	Note string    `json:"note,omitempty"` // reason
	Time time.Time `json:"time"`           // start time
	// Reverts is the number of the set that it reverts, 0 for none.
	Reverts Seq `json:"reverts,omitempty"`
}

// The kinds of change sets. A purge and a redaction are also kinds of events.
const (
	KindImport    = "import"
	KindRevert    = "revert"
	KindPurge     = "purge"
	KindRedaction = "redaction"
)

// SetChangeSet assigns the changes of a batch to a change set. After Flush, Set returns the set with its number.
func (b *Batch) SetChangeSet(set ChangeSet) { b.set = set }

// ChangeSet returns the change set of a batch. It has its number once something was flushed.
func (b *Batch) ChangeSet() ChangeSet { return b.set }

// changeSetsPage is how many change sets are read per page.
const changeSetsPage = 500

// ChangeSets calls f with the change sets after a number, oldest first, until f returns false.
func (r *Registry) ChangeSets(ctx context.Context, after Seq, f func(ChangeSet) bool) error {
	return r.changeSets(ctx, func(tx Tx, last Seq) ([]ChangeSet, error) { return tx.ChangeSets(last, changeSetsPage) },
		after, f)
}

// ChangeSetsBefore calls f with the change sets before a number, newest first, until f returns false; 0 starts
// at the newest set.
func (r *Registry) ChangeSetsBefore(ctx context.Context, before Seq, f func(ChangeSet) bool) error {
	if before == 0 {
		before = 1 << 62
	}
	return r.changeSets(ctx,
		func(tx Tx, last Seq) ([]ChangeSet, error) { return tx.ChangeSetsBefore(last, changeSetsPage) }, before, f)
}

// changeSets calls f with the change sets of successive pages; next returns the page behind the number last.
func (r *Registry) changeSets(
	ctx context.Context, next func(tx Tx, last Seq) ([]ChangeSet, error), last Seq, f func(ChangeSet) bool,
) error {
	for {
		var page []ChangeSet
		err := r.config.Store.Read(ctx, func(tx Tx) (err error) {
			page, err = next(tx, last)
			return err
		})
		if err != nil {
			return err
		}
		for i := range page {
			if !f(page[i]) {
				return nil
			}
			last = page[i].Number
		}
		if len(page) < changeSetsPage {
			return nil
		}
	}
}

// span is a range of Seq; both ends are included.
type span struct{ first, last Seq }

// spansOf returns the spans of a change set, in order, adjacent commits merged.
func spansOf(tx Tx, set ChangeSet) (spans []span, err error) {
	for after := Seq(0); ; {
		page, err := tx.CommitsInSet(set.Number, after, changeSetsPage)
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			after = c.Last
			if n := len(spans); n > 0 && spans[n-1].last+1 == c.First {
				spans[n-1].last = c.Last
				continue
			}
			spans = append(spans, span{c.First, c.Last})
		}
		if len(page) < changeSetsPage {
			return spans, nil
		}
	}
}

// spansBy returns the spans of the change set with a number; ErrUnknown if there is none.
func (r *Registry) spansBy(ctx context.Context, number Seq) (spans []span, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		set, err := tx.ChangeSet(number)
		if err == nil {
			spans, err = spansOf(tx, set)
		}
		return err
	})
	return spans, err
}

// ChangesInSet calls f with the versions of a change set, each with its predecessor, in commit order, until f
// returns false. For a purged key, After is the zero value except for its Key and Seq. Redactions are omitted.
// ErrUnknown means that the set does not exist.
func (r *Registry) ChangesInSet(ctx context.Context, number Seq, f func(Changed) bool) error {
	spans, err := r.spansBy(ctx, number)
	if err != nil {
		return err
	}
	for _, s := range spans {
		for more := true; more; {
			var page []Changed
			err := r.config.Store.Read(ctx, func(tx Tx) (err error) {
				page, s.first, err = changesIn(tx, s)
				return err
			})
			if err != nil {
				return err
			}
			for _, c := range page {
				if !f(c) {
					return nil
				}
			}
			more = s.first <= s.last
		}
	}
	return nil
}

// eventsPage is how many versions and events are read per page.
const eventsPage = 1000

// eventsIn returns the first page of versions and events of a span, and the Seq where the rest of the span
// begins.
func eventsIn(tx Tx, s span) (events []Event, next Seq, err error) {
	n := int(min(s.last-s.first+1, eventsPage))
	if events, err = tx.Events(s.first-1, n); err != nil {
		return nil, 0, err
	}
	next = s.last + 1
	if len(events) == n {
		next = events[n-1].Seq + 1
	}
	for i := range events {
		if events[i].Seq > s.last {
			events = events[:i]
			break
		}
	}
	return events, next, nil
}

// changesIn returns the first page of changes of a span, and the Seq where the rest of the span begins.
func changesIn(tx Tx, s span) (changes []Changed, next Seq, err error) {
	events, next, err := eventsIn(tx, s)
	if err != nil {
		return nil, 0, err
	}
	var versions []Entry
	for i := range events {
		if events[i].Kind == "" {
			versions = append(versions, events[i].Version)
		}
	}
	before, err := tx.Predecessors(versions)
	if err != nil {
		return nil, 0, err
	}
	for i := range events {
		switch events[i].Kind {
		case "":
			changes = append(changes, Changed{before[0], events[i].Version})
			before = before[1:]
		case KindPurge:
			changes = append(changes, Changed{After: Entry{Key: events[i].Key, Seq: events[i].Seq}})
		}
	}
	return changes, next, nil
}

// commitOf returns the commit that contains a Seq; ErrUnknown if there is none.
func commitOf(tx Tx, seq Seq) (Commit, error) {
	found, err := tx.Commits(seq-1, 1)
	if err == nil && (len(found) == 0 || found[0].First > seq) {
		err = errors.Join(ErrUnknown, err)
	}
	if err != nil {
		return Commit{}, err
	}
	return found[0], nil
}

// Event is an item of the history with its own Seq: a version, or the purge or redaction of versions.
type Event struct {
	Key
	Seq Seq
	Set Seq // its change set
	// Kind is KindPurge or KindRedaction, "" for a version.
	Kind string
	// Version is the version, the zero value for the other kinds.
	Version Entry
	// By, Note and Time are the author, reason and time of a purge or redaction. Of are the Seq of the versions
	// that it affected.
	By, Note string
	Time     time.Time
	Affected []Seq
}

// Events selects versions and events after a Seq, in their order.
type Events struct {
	After  Seq
	Set    Seq    // restricts to a change set; 0 is all
	Prefix string // restricts to names and prefixes that begin with it
	Limit  int    // maximum number of versions and events that are read
}

// Events returns versions and events, and the Seq at which to continue, which is asked.After if nothing was
// read. Purged versions are omitted. more reports whether there are further events now.
func (r *Registry) Events(ctx context.Context, requested Events) (found []Event, last Seq, more bool, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		found, last, more = nil, requested.After, false
		set := ChangeSet{}
		if requested.Set != 0 {
			if set, err = tx.ChangeSet(requested.Set); err != nil {
				return err
			}
			last = max(last, set.Number-1)
		}
		page, err := tx.Events(last, requested.Limit)
		if err != nil {
			return err
		}
		more = len(page) == requested.Limit
		for i := range page {
			e := &page[i]
			if requested.Set != 0 && e.Seq > set.Last {
				more = false
				return nil
			}
			last = e.Seq
			if (requested.Set == 0 || requested.Set == e.Set) && strings.HasPrefix(e.Name, requested.Prefix) {
				found = append(found, *e)
			}
		}
		return nil
	})
	return found, last, more, err
}

// ChangeSetContains reports whether a change set contains versions or events of names or prefixes that begin with
// below.
func (r *Registry) ChangeSetContains(ctx context.Context, number Seq, below string) (touches bool, err error) {
	spans, err := r.spansBy(ctx, number)
	for i := 0; i < len(spans) && !touches && err == nil; {
		s := &spans[i]
		err = r.config.Store.Read(ctx, func(tx Tx) error {
			page, err := tx.Changes(s.first-1, eventsPage)
			for _, c := range page {
				touches = touches || c.Seq <= s.last && strings.HasPrefix(c.Key.Name, below)
			}
			if s.first = s.last + 1; len(page) == eventsPage {
				s.first = page[len(page)-1].Seq + 1
			}
			return err
		})
		if s.first > s.last {
			i++
		}
	}
	return touches, err
}
