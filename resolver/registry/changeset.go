package registry

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// ChangeSet is what was changed together: an import, a job, a command, or one request.
type ChangeSet struct {
	// Number identifies the set: it is the Seq of its first row. 0 is a new one.
	Number Seq `json:"number"`
	// Last is the Seq of its last row so far. There may be rows of other sets between those of an import.
	Last Seq       `json:"last"`
	Rows int64     `json:"rows"` // how many versions, purges and redactions it has
	Kind string    `json:"kind"` // what it was made by, such as import; "" is a single change
	By   string    `json:"by"`
	Note string    `json:"note,omitempty"` // why
	Time time.Time `json:"time"`           // when it was begun
	// Reverts is the number of the set that it takes back, 0 for none.
	Reverts Seq `json:"reverts,omitempty"`
}

// The kinds of change sets.
const (
	KindImport = "import"
	KindRevert = "revert"
	// KindMigrate is that of names that were registered by other ones than the canonical ones.
	KindMigrate = "migrate"
	KindPurge   = "purge"
	KindBefore  = "before" // what there was before there were change sets

	kindRedaction = "redaction"
)

// Into makes the changes of a batch part of a change set, whose number Set returns after Flush.
func (b *Batch) Into(set ChangeSet) {
	b.set, b.named = set, true
}

// Set returns the change set of a batch, which has its number once something was written.
func (b *Batch) Set() ChangeSet { return b.set }

// digest returns the digest of what a change set says of itself, which its first row has. What follows from its rows is not in it.
func (s ChangeSet) digest() (string, error) {
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &s) // as it will be read
	}
	if err != nil {
		return "", fmt.Errorf("writing a change set: %w", err)
	}
	var w writer
	w.text(s.Kind)
	w.text(s.By)
	w.text(s.Note)
	w.b = binary.AppendVarint(w.b, s.Time.UnixNano())
	w.number(uint64(s.Reverts)) //nolint:gosec // it is not negative
	digest := sha256.Sum256(w.b)
	return string(digest[:]), nil
}

// putSet writes a change set that has more than what its versions say.
func putSet(tx WriteTx, set ChangeSet) error {
	value, err := json.Marshal(set)
	if err != nil {
		return fmt.Errorf("writing a change set: %w", err)
	}
	return tx.Put(TableSets, []Document{{Key: seqKey(set.Number), Value: value}})
}

// ChangeSetOf returns a change set by its number; ErrUnknown if there is none.
func ChangeSetOf(tx Tx, number Seq) (set ChangeSet, err error) {
	first, err := commitFrom(tx, number)
	if err != nil {
		return set, err
	}
	if first.first != number || first.set != number {
		return set, fmt.Errorf("%w: there is no change set %d", ErrUnknown, number)
	}
	return setOf(tx, first)
}

// setOf returns the change set of its first commit.
func setOf(tx Tx, first commit) (set ChangeSet, err error) {
	value, err := tx.Document(TableSets, seqKey(first.set))
	if err != nil {
		return set, err
	}
	if value != nil {
		if err := json.Unmarshal(value, &set); err != nil {
			return set, fmt.Errorf("%w: the change set %d: %w", ErrDamaged, first.set, err)
		}
		return set, nil
	}
	set = ChangeSet{Number: first.set, Last: first.last, Rows: int64(first.last - first.first + 1)}
	rows, err := tx.Rows(first.first-1, 1)
	if err != nil || len(rows) == 0 {
		return set, err
	}
	return set, set.ofRow(&rows[0])
}

// ofRow sets what the first row of a change set says of it.
func (s *ChangeSet) ofRow(row *Row) error {
	if row.IsVersion() {
		e, err := row.Entry()
		s.By, s.Note, s.Time = e.By, e.Note, e.Changed
		return err
	}
	if r, ok := row.redaction(); ok {
		s.Kind, s.By, s.Note, s.Time = kindRedaction, r.by, r.reason, r.at
		return nil
	}
	s.Kind = KindPurge
	if p, ok := row.purge(); ok {
		s.By, s.Note, s.Time = p.by, p.reason, p.at
	}
	return nil
}

// keptSet is what a purge says of a change set whose first row it has purged.
type keptSet struct {
	number Seq
	digest string
}

// keepSet writes the change set that a row is the first of, which is to be purged, where nothing but the row says who made it, when and
// why. It reports whether there is such a set.
func keepSet(tx WriteTx, seq Seq) (kept keptSet, is bool, err error) {
	set, err := ChangeSetOf(tx, seq)
	if errors.Is(err, ErrUnknown) { // the row is not the first one
		return keptSet{}, false, nil
	}
	kept.number = seq
	if err == nil {
		kept.digest, err = set.digest()
	}
	if err != nil {
		return keptSet{}, false, err
	}
	return kept, true, putSet(tx, set)
}

// commitFrom returns the first commit whose last row is not before a Seq; ErrUnknown if there is none.
func commitFrom(tx Tx, seq Seq) (commit, error) {
	after := ""
	if seq > 1 {
		after = seqKey(seq - 1)
	}
	found, err := tx.Documents(TableCommits, "", after, 1)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: there is no change set %d", ErrUnknown, seq)
	}
	if err != nil {
		return commit{}, err
	}
	return commitOf(found[0])
}

// changeSetsPage is how many commits are read at once.
const changeSetsPage = 500

// ChangeSets calls f with the change sets after a number, in their order, until it returns false.
func (r *Registry) ChangeSets(ctx context.Context, after Seq, f func(ChangeSet) bool) error {
	key := keyBefore(after)
	for more := true; more; {
		var sets []ChangeSet
		var err error
		if sets, key, more, err = r.setsBehind(ctx, key, span{after + 1, math.MaxInt64}); err != nil {
			return err
		}
		for _, set := range sets {
			if !f(set) {
				return nil
			}
		}
	}
	return nil
}

// ChangeSetsBefore calls f with the change sets before a number, the last first, until it returns false; 0 is before none, and so has all.
func (r *Registry) ChangeSetsBefore(ctx context.Context, before Seq, f func(ChangeSet) bool) error {
	if before == 0 {
		head, err := r.config.Store.Head(ctx)
		if err != nil {
			return err
		}
		before = head + 1
	}
	for width := Seq(changeSetsPage); before > 1; {
		first := max(before-width, 1)
		sets, err := r.setsIn(ctx, span{first, before - 1})
		if err != nil {
			return err
		}
		for i := len(sets) - 1; i >= 0; i-- {
			if !f(sets[i]) {
				return nil
			}
		}
		if before = first; len(sets) < changeSetsPage/4 { // sets have many rows there
			width *= 2
		} else {
			width = changeSetsPage
		}
	}
	return nil
}

// setsIn returns the change sets whose numbers are in a span, in their order.
func (r *Registry) setsIn(ctx context.Context, s span) (all []ChangeSet, err error) {
	key := keyBefore(s.first - 1)
	for more := true; more && key < seqKey(s.last); {
		var sets []ChangeSet
		if sets, key, more, err = r.setsBehind(ctx, key, s); err != nil {
			return nil, err
		}
		all = append(all, sets...)
	}
	return all, nil
}

// keyBefore returns the key behind which the commits are that may begin change sets after a number.
func keyBefore(after Seq) string {
	if after <= 0 {
		return ""
	}
	return seqKey(after - 1) // the commit of that one ends at or behind its number
}

// setsBehind returns the change sets that begin with one of the commits of the page behind a key, and whose numbers are in a span, with the key of the
// last commit of the page, and whether there is another page.
func (r *Registry) setsBehind(ctx context.Context, key string, s span) (sets []ChangeSet, last string, more bool, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		sets, last, more, err = pageOfSets(tx, key, s)
		return err
	})
	return sets, last, more, err
}

// pageOfSets is setsBehind within a transaction.
func pageOfSets(tx Tx, key string, s span) (sets []ChangeSet, last string, more bool, err error) {
	page, err := tx.Documents(TableCommits, "", key, changeSetsPage)
	if err != nil {
		return nil, "", false, err
	}
	last = key
	for _, d := range page {
		last = d.Key
		c, err := commitOf(d)
		if err != nil {
			return nil, "", false, err
		}
		if c.set != c.first || c.set < s.first || c.set > s.last {
			continue // it was begun before, or is none of those
		}
		set, err := setOf(tx, c)
		if err != nil {
			return nil, "", false, err
		}
		sets = append(sets, set)
	}
	return sets, last, len(page) == changeSetsPage, nil
}

// span is a range of rows, both included.
type span struct{ first, last Seq }

// spansOf returns the rows of a change set, in their order, neighbours as one.
func spansOf(tx Tx, set ChangeSet) (spans []span, err error) {
	for after := seqKey(set.Number - 1); ; {
		page, err := tx.Documents(TableCommits, "", after, changeSetsPage)
		if err != nil {
			return nil, err
		}
		for _, d := range page {
			after = d.Key
			c, err := commitOf(d)
			if err != nil {
				return nil, err
			}
			if c.last > set.Last {
				return spans, nil
			}
			if c.set != set.Number {
				continue
			}
			if n := len(spans); n > 0 && spans[n-1].last+1 == c.first {
				spans[n-1].last = c.last
				continue
			}
			spans = append(spans, span{c.first, c.last})
		}
		if len(page) < changeSetsPage {
			return spans, nil
		}
	}
}

// ChangesOf calls f with the versions of a change set, each with the one before it, in the order in which they were made, until it
// returns false. A key that was purged has a zero After but for its Key; redactions are not among them. ErrUnknown means that there is no
// such set.
func (r *Registry) ChangesOf(ctx context.Context, number Seq, f func(Changed) bool) error {
	var spans []span
	err := r.config.Store.Read(ctx, func(tx Tx) error {
		set, err := ChangeSetOf(tx, number)
		if err == nil {
			spans, err = spansOf(tx, set)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, s := range spans {
		for next := s.first; next <= s.last; next += rowsPage {
			page, err := r.changesIn(ctx, span{next, min(next+rowsPage-1, s.last)})
			if err != nil {
				return err
			}
			for _, c := range page {
				if !f(c) {
					return nil
				}
			}
		}
	}
	return nil
}

// changesIn returns the changes of a span.
func (r *Registry) changesIn(ctx context.Context, s span) (changes []Changed, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		changes = nil
		rows, err := tx.Rows(s.first-1, int(s.last-s.first+1))
		if err != nil {
			return err
		}
		for i := range rows {
			row := &rows[i]
			switch {
			case row.Seq > s.last:
			case row.IsPurge():
				changes = append(changes, Changed{After: Entry{Key: row.Key, Seq: row.Seq}})
			case row.IsVersion():
				c, err := changeOf(tx, row)
				if err != nil {
					return err
				}
				changes = append(changes, c)
			}
		}
		return nil
	})
	return changes, err
}

// changeOf returns the version of a row with the one before it.
func changeOf(tx Tx, row *Row) (c Changed, err error) {
	if c.After, err = row.Entry(); err != nil || row.Prev == 0 {
		return c, err
	}
	before, err := rowAt(tx, row.Prev)
	if err == nil {
		c.Before, err = before.Entry()
	}
	return c, err
}
