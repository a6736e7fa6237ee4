package registry

import (
	"context"
	"strings"
	"time"
)

// Event is what has a Seq: a version, or what happened to versions.
type Event struct {
	Key
	Seq Seq
	Set Seq // the change set that it belongs to
	// Kind is that of a purge or a redaction, "" of a version.
	Kind string
	// Version is the version, the zero value of others.
	Version Entry
	// By, Note and Time say of a purge or a redaction who made it, why and when. Of those are the versions with the numbers Of.
	By, Note string
	Time     time.Time
	Of       []Seq
}

// Events are what is asked for: versions and events after a Seq, in their order.
type Events struct {
	After Seq
	Set   Seq    // only those of this change set; 0 is all
	Below string // only those of names and prefixes that begin so
	Limit int    // how many are read at most
}

// Events returns versions and events, and the Seq after which to go on, which is that of Events where there is nothing more. What is left
// of versions that were purged is not among them. more is whether there is more now.
func (r *Registry) Events(ctx context.Context, asked Events) (found []Event, last Seq, more bool, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		found, last, more = nil, asked.After, false
		set := ChangeSet{}
		if asked.Set != 0 {
			if set, err = tx.ChangeSet(asked.Set); err != nil {
				return err
			}
			last = max(last, set.Number-1)
		}
		page, err := tx.Events(last, asked.Limit)
		if err != nil {
			return err
		}
		more = len(page) == asked.Limit
		for i := range page {
			e := &page[i]
			if asked.Set != 0 && e.Seq > set.Last {
				more = false
				return nil
			}
			last = e.Seq
			if (asked.Set == 0 || asked.Set == e.Set) && strings.HasPrefix(e.Name, asked.Below) {
				found = append(found, *e)
			}
		}
		return nil
	})
	return found, last, more, err
}

// Touches reports whether a change set has versions or events of names or prefixes that begin with a text.
func (r *Registry) Touches(ctx context.Context, number Seq, below string) (touches bool, err error) {
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
