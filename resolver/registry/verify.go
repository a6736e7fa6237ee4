package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Checker is a Store that can check what lies below entries and documents.
type Checker interface {
	// Check reports what is wrong. The error is not nil where it could not be checked at all.
	Check(ctx context.Context, report func(fault string)) error
}

// Verify checks a store as it is at one moment, and reports what is wrong. It reads all of it, in
// the order in which it was written, with bounded memory. progress is called now and then with the
// Seq that it has come to, and the last one. The error is not nil where it could not be checked.
func Verify(ctx context.Context, s Store, report func(fault string), progress func(done, all Seq)) error {
	damaged := false
	if c, ok := s.(Checker); ok {
		err := c.Check(ctx, func(fault string) {
			damaged = true
			report(fault)
		})
		if err != nil {
			return fmt.Errorf("checking the store: %w", err)
		}
	}
	head, err := s.Head(ctx)
	if err != nil {
		return fmt.Errorf("checking the store: %w", err)
	}
	err = s.Read(ctx, func(tx Tx) error {
		v := verifier{tx: tx, report: report, totals: make(map[string]*Totals)}
		if err := v.entries(ctx, func(done Seq) { progress(done, max(done, head)) }); err != nil {
			return err
		}
		if err := v.aliases(); err != nil {
			return err
		}
		return v.compareTotals()
	})
	if damaged && errors.Is(err, ErrDamaged) {
		return nil // it has been reported, and what follows from it cannot be read
	}
	if err != nil {
		return fmt.Errorf("checking the registry: %w", err)
	}
	return nil
}

// verifier checks one state of a store.
type verifier struct {
	tx     Tx
	report func(fault string)
	totals map[string]*Totals
	last   Seq
}

const verifyPage = 1000

// entries checks all entries: each when the change comes that made its current version.
func (v *verifier) entries(ctx context.Context, progress func(done Seq)) error {
	for {
		changes, err := v.tx.Changes(v.last, verifyPage)
		if err != nil {
			return err
		}
		keys := make([]Key, len(changes))
		for i, c := range changes {
			keys[i] = c.Key
		}
		if err := v.page(keys, changes); err != nil {
			return err
		}
		if len(changes) > 0 {
			v.last = changes[len(changes)-1].Seq
			progress(v.last)
		}
		if len(changes) < verifyPage {
			return ctx.Err()
		}
	}
}

func (v *verifier) page(keys []Key, changes []Change) error {
	entries, err := v.tx.Entries(keys)
	if err == nil {
		for i := range entries {
			if err := v.current(changes[i], &entries[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	for i, key := range keys { // one by one, so that the others are checked
		one, err := v.tx.Entries([]Key{key})
		switch {
		case errors.Is(err, ErrDamaged):
			v.report(err.Error())
		case err != nil:
			return err
		default:
			if err := v.current(changes[i], &one[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// current checks the current entry of a changed key.
func (v *verifier) current(c Change, e *Entry) error {
	switch {
	case !e.Exists(): // it was purged, later or now
		return nil
	case e.Seq < c.Seq:
		v.report(fmt.Sprintf("%s: its current version is number %d, and there is a later one, %d", c.Key, e.Seq, c.Seq))
		return nil
	case e.Seq > c.Seq:
		return nil
	}
	group := groupOf(e.Name)
	if v.totals[group] == nil {
		v.totals[group] = new(Totals)
	}
	v.totals[group].add(e, 1)
	if e.Alias != "" {
		document, err := v.tx.Document(TableAliases, e.Alias+" "+e.Name)
		if err != nil {
			return err
		}
		if document == nil {
			v.report(fmt.Sprintf("%s: it is an alias of %s, which does not know it", c.Key, e.Alias))
		}
	}
	return v.history(e)
}

// history checks that the versions of an entry count down to 1.
func (v *verifier) history(e *Entry) error {
	if e.Version == 1 {
		if e.Prev != 0 {
			v.report(fmt.Sprintf("%s: its version 1 follows number %d", e.Key, e.Prev))
		}
		return nil
	}
	want, before := e.Version, Seq(0)
	for {
		page, err := v.tx.Versions(e.Key, before, versionsPage)
		if errors.Is(err, ErrDamaged) {
			v.report(err.Error())
			return nil
		}
		if err != nil {
			return err
		}
		for i := range page {
			if page[i].Version != want {
				v.report(fmt.Sprintf("%s: number %d is version %d, and should be %d", e.Key, page[i].Seq, page[i].Version, want))
				return nil
			}
			want--
			before = page[i].Seq
		}
		if len(page) < versionsPage {
			break
		}
	}
	if want != 0 {
		v.report(fmt.Sprintf("%s: its versions 1 to %d are missing", e.Key, want))
	}
	return nil
}

// aliases checks that what is known as an alias is one.
func (v *verifier) aliases() error {
	after := ""
	for {
		documents, err := v.tx.Documents(TableAliases, "", after, verifyPage)
		if err != nil {
			return err
		}
		for _, d := range documents {
			after = d.Key
			name, alias, _ := strings.Cut(d.Key, " ") // which no canonical name has
			entries, err := v.tx.Entries([]Key{Name(alias)})
			switch {
			case errors.Is(err, ErrDamaged): // reported before
			case err != nil:
				return err
			case entries[0].Alias != name:
				v.report(fmt.Sprintf("%s: %s is known as an alias of it, and is not", name, alias))
			}
		}
		if len(documents) < verifyPage {
			return nil
		}
	}
}

// compareTotals compares what is counted with what was counted now.
func (v *verifier) compareTotals() error {
	stored, err := TotalsOf(v.tx)
	if errors.Is(err, ErrDamaged) {
		v.report(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	for group, counted := range v.totals {
		if stored[group] != *counted {
			v.report(fmt.Sprintf("%s: the totals say %+v, and there are %+v", group, stored[group], *counted))
		}
		delete(stored, group)
	}
	for group, t := range stored {
		if t != (Totals{}) {
			v.report(fmt.Sprintf("%s: the totals say %+v, and there is nothing", group, t))
		}
	}
	return nil
}
