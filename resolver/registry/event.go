package registry

import (
	"context"
	"strings"
	"time"
)

// Event is a row of the registry: a version, or what happened to versions.
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

// Events are what is asked for: rows after a Seq, in their order.
type Events struct {
	After Seq
	Set   Seq    // only those of this change set; 0 is all
	Below string // only those of names and prefixes that begin so
	Limit int    // how many rows are read at most
}

// Events returns rows of the registry, and the Seq after which to go on, which is that of Events where there is nothing more. What is left
// of versions that were purged is not among them. more is whether there is more now.
func (r *Registry) Events(ctx context.Context, asked Events) (found []Event, last Seq, more bool, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		found, last, more = nil, asked.After, false
		set := ChangeSet{}
		if asked.Set != 0 {
			if set, err = ChangeSetOf(tx, asked.Set); err != nil {
				return err
			}
			last = max(last, set.Number-1)
		}
		rows, err := tx.Rows(last, asked.Limit)
		if err != nil {
			return err
		}
		more = len(rows) == asked.Limit
		var of commit
		for i := range rows {
			if row := &rows[i]; asked.Set != 0 && row.Seq > set.Last {
				more = false
				return nil
			}
			last = rows[i].Seq
			if last > of.last {
				if of, err = commitFrom(tx, last); err != nil {
					return err
				}
			}
			if asked.Set != 0 && asked.Set != of.set || !strings.HasPrefix(rows[i].Name, asked.Below) {
				continue
			}
			e, is, err := eventOf(&rows[i], of.set)
			if err != nil {
				return err
			}
			if is {
				found = append(found, e)
			}
		}
		return nil
	})
	return found, last, more, err
}

// eventOf returns the event that a row is, if it is one.
func eventOf(row *Row, set Seq) (e Event, is bool, err error) {
	e = Event{Key: row.Key, Seq: row.Seq, Set: set}
	if row.isPurged() {
		return e, false, nil
	}
	if row.IsVersion() {
		e.Version, err = row.Entry()
		return e, true, err
	}
	if redacted, ok := row.redaction(); ok {
		e.Kind, e.By, e.Note, e.Time, e.Of = kindRedaction, redacted.by, redacted.reason, redacted.at, []Seq{redacted.of}
		return e, true, nil
	}
	purged, _ := row.purge() // what was once written has no octets, and says nothing
	e.Kind, e.By, e.Note, e.Time, e.Of = KindPurge, purged.by, purged.reason, purged.at, purged.versions
	return e, true, nil
}

// Touches reports whether a change set has rows of names or prefixes that begin with a text.
func (r *Registry) Touches(ctx context.Context, number Seq, below string) (is bool, err error) {
	var spans []span
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		set, err := ChangeSetOf(tx, number)
		if err == nil {
			spans, err = spansOf(tx, set)
		}
		return err
	})
	for i := 0; i < len(spans) && !is && err == nil; {
		s := &spans[i]
		err = r.config.Store.Read(ctx, func(tx Tx) error {
			page, err := tx.Changes(s.first-1, rowsPage)
			for _, c := range page {
				is = is || c.Seq <= s.last && strings.HasPrefix(c.Key.Name, below)
			}
			if s.first += rowsPage; len(page) > 0 {
				s.first = page[len(page)-1].Seq + 1
			}
			return err
		})
		if s.first > s.last {
			i++
		}
	}
	return is, err
}
