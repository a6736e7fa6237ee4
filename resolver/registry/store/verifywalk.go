package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/urnd/urnd/resolver/registry"
)

// commitsPage is how many commits are read per page.
const commitsPage = 1000

// commits verifies the digests of commits with the leaves of parts, which arrive in ascending order.
func (v *verifier) commits(ctx context.Context, parts <-chan *part) error {
	w := &walk{verifier: v, sets: make(map[registry.Seq]*setSize)}
	for p := range parts {
		select {
		case <-p.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if p.err != nil {
			return p.err
		}
		if err := v.store.db.Read(ctx,
			func(c Conn) error { return w.part(&transaction{db: v.store.db, conn: c}, p) }); err != nil {
			return err
		}
		v.mu.Lock()
		v.progress(p.last, v.head)
		v.mu.Unlock()
	}
	for _, number := range slices.Sorted(maps.Keys(w.sets)) {
		v.unfinished = append(v.unfinished, w.sets[number])
	}
	return ctx.Err()
}

// setSize is the recorded size of a change set, and the size found so far.
type setSize struct {
	number, last, seenLast registry.Seq
	rows, seenRows         int64
}

// problem describes the mismatch.
func (s *setSize) problem() string {
	return fmt.Sprintf("change set %d claims %d versions up to number %d, but has %d up to number %d",
		s.number, s.rows, s.last, s.seenRows, s.seenLast)
}

// walk follows the chain of commits.
type walk struct {
	*verifier
	last   registry.Seq              // last seq of the previous commit
	digest []byte                    // digest of the previous commit
	rest   []byte                    // leaves behind the previous commit
	sets   map[registry.Seq]*setSize // change sets that have started, and not ended
}

// part verifies the commits that end within a part.
func (w *walk) part(t *transaction, p *part) error {
	w.rest = append(w.rest, p.leaves...)
	p.leaves = nil
	for {
		page, err := t.Commits(w.last, commitsPage)
		if err != nil {
			return err
		}
		for i := range page {
			if page[i].Last > p.last {
				return nil
			}
			if err := w.commit(t, &page[i]); err != nil {
				return err
			}
		}
		if len(page) < commitsPage {
			if w.last < p.last {
				w.report(fmt.Sprintf("numbers from %d on without a commit", w.last+1))
			}
			return nil
		}
	}
}

// commit verifies a commit.
func (w *walk) commit(t *transaction, c *registry.Commit) error {
	if c.First != w.last+1 {
		return fmt.Errorf("%w: commit of number %d begins at %d, but the previous one ends at %d", registry.ErrDamaged,
			c.Last, c.First, w.last)
	}
	n := digestSize * int(c.Last-c.First+1)
	leaves := w.rest[:n]
	set, err := t.ChangeSet(c.Set)
	if err != nil {
		return fmt.Errorf("%w: commit of number %d: %w", registry.ErrDamaged, c.Last, err)
	}
	digest := t.hash.commit(w.digest, &set, leaves)
	if digest != c.Digest {
		w.report(fmt.Sprintf("the numbers %d to %d, or their change set %d, or earlier ones, differ from their digest",
			c.First, c.Last, c.Set))
	}
	w.count(&set, c)
	w.last, w.digest = c.Last, c.Digest[:] // continue with the stored digest, so that one error is reported once
	w.rest = append(w.rest[:0], w.rest[n:]...)
	return nil
}

// count compares the recorded size of a change set with its commits.
func (w *walk) count(set *registry.ChangeSet, c *registry.Commit) {
	size := w.sets[set.Number]
	if size == nil {
		size = &setSize{number: set.Number}
		w.sets[set.Number] = size
		if set.Number != c.First {
			w.report(fmt.Sprintf("change set %d begins at %d", set.Number, c.First))
		}
	}
	size.last, size.rows = set.Last, set.Rows
	size.seenLast, size.seenRows = c.Last, size.seenRows+int64(c.Last-c.First+1)
	if size.seenLast < size.last {
		return
	}
	if size.seenLast != size.last || size.seenRows != size.rows {
		w.report(size.problem())
	}
	delete(w.sets, set.Number)
}
