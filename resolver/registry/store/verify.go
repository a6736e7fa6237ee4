package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/urnd/urnd/resolver/registry"
)

// Verify implements registry.Store: it computes all digests anew, compares what follows from versions with them, and has the database
// check what lies below.
func (s *Store) Verify(ctx context.Context, report func(problem string), progress func(done, all registry.Seq)) error {
	v := &verifier{store: s, progress: progress, totals: make(map[string]*registry.Totals)}
	v.report = func(problem string) {
		v.mu.Lock()
		defer v.mu.Unlock()
		report(problem)
	}
	below, checked := 0, error(nil) // of the database, which is checked meanwhile
	var check sync.WaitGroup
	check.Go(func() {
		checked = s.db.Check(ctx, func(problem string) {
			below++
			v.report(problem)
		})
	})
	err := v.chain(ctx)
	check.Wait()
	switch {
	case checked != nil:
		return fmt.Errorf("checking the database: %w", checked)
	case below > 0:
		return nil // what cannot be read cannot be compared
	case errors.Is(err, registry.ErrDamaged):
		v.report(err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("verifying the registry: %w", err)
	}
	if err := s.db.Read(ctx, func(c Conn) error { return v.derived(&transaction{db: s.db, conn: c}) }); err != nil {
		return fmt.Errorf("verifying the registry: %w", err)
	}
	return nil
}

// verifier verifies a store.
type verifier struct {
	store    *Store
	report   func(problem string)
	progress func(done, all registry.Seq)
	head     registry.Seq

	mu     sync.Mutex                  // report and progress are called one at a time
	totals map[string]*registry.Totals // of current versions
	words  wordSum                     // of their titles
}

// partSize is how many versions a reader reads at once.
const partSize = 1 << 14

// part are the leaves of numbers that follow one another.
type part struct {
	first, last registry.Seq
	leaves      []byte
	err         error
	done        chan struct{}
}

// chain compares the digests of all versions and commits up to the head, with as many readers as there are processors.
func (v *verifier) chain(ctx context.Context) (err error) {
	if v.head, err = v.store.Head(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	readers := runtime.GOMAXPROCS(0)
	parts, work := make(chan *part, readers), make(chan *part)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	wait.Go(func() {
		defer close(parts)
		defer close(work)
		for first := registry.Seq(1); first <= v.head; first += partSize {
			p := &part{first: first, last: min(first+partSize-1, v.head), done: make(chan struct{})}
			for _, to := range []chan *part{parts, work} {
				select {
				case to <- p:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	for range readers {
		wait.Go(func() {
			for p := range work {
				p.err = v.store.db.Read(ctx, func(c Conn) error { return v.leaves(&transaction{db: v.store.db, conn: c}, p) })
				close(p.done)
			}
		})
	}
	return v.commits(ctx, parts)
}

// leaves computes the leaves of a part, and compares the digests of its versions.
func (v *verifier) leaves(t *transaction, p *part) error {
	p.leaves = make([]byte, 0, digestSize*int(p.last-p.first+1))
	return t.numbered(p.first, p.last, func(n *numbered) error {
		var leaf [digestSize]byte
		switch {
		case n.version != nil:
			leaf = v.version(t, n.version)
		case n.purged != nil:
			leaf = n.purged.leaf
		case n.event != nil:
			if len(n.event.Of) == 0 {
				v.report(fmt.Sprintf("number %d says that something of %s was removed, and nothing was", n.seq, n.event.Key))
			}
			leaf = t.hash.event(n.event)
		default:
			v.report(fmt.Sprintf("number %d is missing, or has no name or author", n.seq))
		}
		p.leaves = append(p.leaves, leaf[:]...)
		return nil
	})
}

// version compares the digest of a version, and returns its leaf.
func (v *verifier) version(t *transaction, e *sealed) [digestSize]byte {
	if !e.Redacted {
		if digest := t.hash.content(&e.Entry, e.salt); !bytes.Equal(digest[:], e.digest) {
			v.report(fmt.Sprintf("%s: version %d, number %d, is not as it was written: its targets, contact, metadata or digest have changed", e.Key, e.Version, e.Seq))
		}
	} else if len(e.Targets) > 0 || e.Contact != "" || e.Metadata != "" {
		v.report(fmt.Sprintf("%s: version %d, number %d, is redacted, and has a content", e.Key, e.Version, e.Seq))
	}
	if e.misplaced {
		v.report(fmt.Sprintf("%s: a target of version %d, number %d, is not found by its host", e.Key, e.Version, e.Seq))
	}
	if e.current {
		namespace := registry.Namespace(e.Name)
		v.mu.Lock()
		if v.totals[namespace] == nil {
			v.totals[namespace] = new(registry.Totals)
		}
		v.totals[namespace].Add(&e.Entry, 1)
		for _, word := range titleWords(&e.Entry) {
			v.words.add(&t.hash, word, int64(e.First))
		}
		v.mu.Unlock()
	}
	return t.hash.leaf(&e.Entry, e.digest)
}

// wordSum is a number of titles' words, and a sum of what they are: the same ones in any order have the same.
type wordSum struct{ words, sum uint64 }

func (s *wordSum) add(h *hasher, word string, name int64) {
	h.reset()
	h.number(fieldSeq, name)
	h.text(fieldTitle, word)
	digest := h.sum()
	s.words++
	s.sum += binary.BigEndian.Uint64(digest[:])
}

// commitsPage is how many commits are read at once.
const commitsPage = 1000

// commits compares the digests of commits with the leaves of parts, which come in their order.
func (v *verifier) commits(ctx context.Context, parts <-chan *part) error {
	w := &walk{verifier: v, sets: make(map[registry.Seq]*registry.ChangeSet)}
	for p := range parts {
		select {
		case <-p.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if p.err != nil {
			return p.err
		}
		if err := v.store.db.Read(ctx, func(c Conn) error { return w.part(&transaction{db: v.store.db, conn: c}, p) }); err != nil {
			return err
		}
		v.mu.Lock()
		v.progress(p.last, v.head)
		v.mu.Unlock()
	}
	return ctx.Err()
}

// walk follows the chain of commits.
type walk struct {
	*verifier
	last   registry.Seq                         // of the commit before
	digest []byte                               // of it
	rest   []byte                               // leaves after it
	sets   map[registry.Seq]*registry.ChangeSet // those that have begun, with what was seen of them
}

// part follows the commits that end within a part.
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
				w.report(fmt.Sprintf("the numbers from %d on belong to no commit", w.last+1))
			}
			return nil
		}
	}
}

// commit compares a commit.
func (w *walk) commit(t *transaction, c *registry.Commit) error {
	if c.First != w.last+1 {
		return fmt.Errorf("%w: the commit of number %d begins at %d, and the one before ends at %d", registry.ErrDamaged, c.Last, c.First, w.last)
	}
	n := digestSize * int(c.Last-c.First+1)
	leaves := w.rest[:n]
	set, err := t.ChangeSet(c.Set)
	if err != nil {
		return fmt.Errorf("%w: the commit of number %d: %w", registry.ErrDamaged, c.Last, err)
	}
	digest := t.hash.commit(w.digest, &set, leaves)
	if digest != c.Digest {
		w.report(fmt.Sprintf("the numbers %d to %d, or their change set %d, are not as they were written, or those before are not", c.First, c.Last, c.Set))
	}
	w.count(&set, c)
	w.last, w.digest = c.Last, c.Digest[:] // what was written is compared on, so that one fault is one problem
	w.rest = append(w.rest[:0], w.rest[n:]...)
	return nil
}

// count compares what a change set says of its size with its commits.
func (w *walk) count(set *registry.ChangeSet, c *registry.Commit) {
	seen := w.sets[set.Number]
	if seen == nil {
		seen = &registry.ChangeSet{Number: set.Number}
		w.sets[set.Number] = seen
		if set.Number != c.First {
			w.report(fmt.Sprintf("the change set %d begins at %d", set.Number, c.First))
		}
	}
	seen.Last, seen.Rows = c.Last, seen.Rows+int64(c.Last-c.First+1)
	if seen.Last < set.Last {
		return
	}
	if seen.Last != set.Last || seen.Rows != set.Rows {
		w.report(fmt.Sprintf("the change set %d says that it has %d versions up to number %d, and it has %d up to number %d",
			set.Number, set.Rows, set.Last, seen.Rows, seen.Last))
	}
	delete(w.sets, set.Number)
}

// maxProblems bounds the problems of one kind that are reported.
const maxProblems = 100

// derived compares what follows from versions.
func (v *verifier) derived(t *transaction) error {
	for _, check := range []struct{ problem, statement string }{
		{"%s: its current version, number %d, is not one of it, or has another status or alias", "SELECT n.key, n.version FROM name n " +
			"LEFT JOIN version v ON v.seq = n.version AND v.name = n.id AND v.status = n.status AND v.alias IS NOT DISTINCT FROM n.alias WHERE v.seq IS NULL"},
		{"%s: its version number %d is later than the current one", "SELECT n.key, v.seq FROM version v JOIN name n ON n.id = v.name " +
			"WHERE v.number > 1 AND v.seq > n.version"},
		{"%s: the version before number %d is missing", "SELECT n.key, v.seq FROM version v JOIN name n ON n.id = v.name WHERE v.number > 1 AND NOT EXISTS " +
			"(SELECT 1 FROM version p WHERE p.name = v.name AND p.number > 1 AND p.number = v.number - 1) AND NOT (v.number = 2 AND EXISTS " +
			"(SELECT 1 FROM version p WHERE p.seq = v.name AND p.name = v.name AND p.number = 1))"},
		{"%s: a target of number %d is not found by its host, or should not be", "SELECT n.key, t.version FROM target t JOIN version v ON v.seq = t.version " +
			"JOIN name n ON n.id = v.name WHERE t.current IS DISTINCT FROM CASE WHEN n.version = t.version THEN n.id END"},
		{"%s is a target of number %d, which there is not", "SELECT t.uri, t.version FROM target t LEFT JOIN version v ON v.seq = t.version AND v.name IS NOT NULL " +
			"WHERE v.seq IS NULL"},
		{"%s, whose version is number %d, is an alias of a name that is not registered, nor below a prefix", "SELECT n.key, n.version FROM name n " +
			"WHERE n.alias IS NOT NULL AND NOT EXISTS (SELECT 1 FROM name a WHERE a.kind = 0 AND a.key = n.alias) " +
			"AND NOT EXISTS (SELECT 1 FROM name p WHERE p.kind = 1 AND substr(n.alias, 1, length(p.key)) = p.key)"},
	} {
		err := t.conn.Query(check.statement+" LIMIT $1", func(row Row) error {
			v.report(fmt.Sprintf(check.problem, row.Text(0), row.Int(1)))
			return nil
		}, int64(maxProblems))
		if err != nil {
			return err
		}
	}
	if err := v.uncommitted(t); err != nil {
		return err
	}
	return v.compareTotals(t)
}

// uncommitted reports what lies behind the last commit.
func (v *verifier) uncommitted(t *transaction) error {
	last, err := t.chain()
	if err != nil {
		return err
	}
	return t.conn.Query("SELECT seq FROM version WHERE seq > $1 UNION ALL SELECT seq FROM event WHERE seq > $1 ORDER BY 1 LIMIT $2", func(row Row) error {
		v.report(fmt.Sprintf("number %d belongs to no commit", row.Int(0)))
		return nil
	}, int64(last.last), int64(maxProblems))
}

// compareTotals compares the totals with those of current versions, unless something was written meanwhile.
func (v *verifier) compareTotals(t *transaction) error {
	last, err := t.chain()
	if err != nil || last.last != v.head {
		return err
	}
	if err := v.compareWords(t); err != nil {
		return err
	}
	stored, err := t.Totals()
	if err != nil {
		return err
	}
	for namespace, found := range v.totals {
		if stored[namespace] != *found {
			v.report(fmt.Sprintf("%s: the totals say %+v, and there are %+v", namespace, stored[namespace], *found))
		}
		delete(stored, namespace)
	}
	for namespace, total := range stored {
		if total != (registry.Totals{}) {
			v.report(fmt.Sprintf("%s: the totals say %+v, and there is nothing", namespace, total))
		}
	}
	return nil
}

// compareWords compares the words by which names are found with those of their titles.
func (v *verifier) compareWords(t *transaction) error {
	var stored wordSum
	err := t.conn.Query("SELECT word, name FROM title_word", func(row Row) error {
		stored.add(&t.hash, row.Text(0), row.Int(1))
		return nil
	})
	if err == nil && stored != v.words {
		v.report(fmt.Sprintf("the %d words of titles that names are found by are not the %d that they have", stored.words, v.words.words))
	}
	return err
}
