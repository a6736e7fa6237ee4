package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/urnd/urnd/resolver/registry"
)

// Verify implements registry.Store: it computes all digests anew, compares what follows from versions with them, and has the database
// check what lies below.
func (s *Store) Verify(ctx context.Context, report func(problem string), progress func(done, all registry.Seq)) error {
	v := &verifier{store: s, progress: progress, seed: maphash.MakeSeed()}
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
	seed     maphash.Seed // of sums
	current  bitmap       // the seqs of current versions, as names have them
	names    sum          // of what names have of those

	mu    sync.Mutex // report and progress are called one at a time
	found findings   // of all parts
}

// findings are what versions say of what follows from them.
type findings struct {
	totals  map[string]registry.Totals // of current versions
	current sum                        // of what names have of current versions
	words   sum                        // of their titles
	doubt   bool                       // whether something may be wrong, or was changed meanwhile: statements find out what
}

func (f *findings) add(other *findings) {
	if f.totals == nil {
		f.totals = make(map[string]registry.Totals)
	}
	for namespace, totals := range other.totals {
		f.totals[namespace] = f.totals[namespace].Plus(totals)
	}
	f.current.add(other.current)
	f.words.add(other.words)
	f.doubt = f.doubt || other.doubt
}

// sum is a number of values, and a sum of their hashes: the same ones in any order have the same.
type sum struct{ n, hashes uint64 }

func (s *sum) add(other sum) { s.n, s.hashes = s.n+other.n, s.hashes+other.hashes }

// pointer is what a row of name has of the current version.
type pointer struct {
	name, version, status int64
	alias                 string
}

// one is the sum of a value.
func one[T pointer | titleWord](v *verifier, value T) sum {
	return sum{1, maphash.Comparable(v.seed, value)}
}

// bitmap is a set of seqs from 1 on.
type bitmap []uint64

func (b bitmap) has(seq registry.Seq) bool { return b[seq/64]>>(seq%64)&1 != 0 }
func (b bitmap) add(seq registry.Seq)      { b[seq/64] |= 1 << (seq % 64) }

// readCurrent reads which versions are current.
func (v *verifier) readCurrent(t *transaction) error {
	v.current = make(bitmap, v.head/64+1)
	for _, kind := range []registry.Kind{registry.KindPrefix, registry.KindName} {
		for after, rows := "", partSize; rows == partSize; {
			rows = 0
			err := t.conn.Query("SELECT id, version, status, alias, key FROM name WHERE kind = $1 AND key > $2 ORDER BY key LIMIT $3", func(row Row) error {
				rows++
				if rows == partSize {
					after = row.Text(4)
				}
				version := registry.Seq(row.Int(1))
				if version < 1 || version > v.head {
					v.found.doubt = true // unless it was written since
					return nil
				}
				v.current.add(version)
				v.names.add(one(v, pointer{row.Int(0), row.Int(1), row.Int(2), row.Text(3)}))
				return nil
			}, int64(kind), after, int64(partSize))
			if err != nil {
				return err
			}
		}
	}
	// All other targets are seen with the parts.
	return t.conn.Query("SELECT (SELECT min(version) FROM target), (SELECT max(version) FROM target)", func(row Row) error {
		v.found.doubt = v.found.doubt || !row.Null(0) && row.Int(0) < 1 || row.Int(1) > int64(v.head)
		return nil
	})
}

// partSize is how many versions a reader reads at once.
const partSize = 1 << 12

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
	err = v.store.db.Read(ctx, func(c Conn) error { return v.readCurrent(&transaction{db: v.store.db, conn: c}) })
	if err != nil {
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
	n, err := t.between(p.first, p.last)
	if err != nil {
		return err
	}
	hosts, err := t.hostsOf(n.versions)
	if err != nil {
		return err
	}
	found := findings{totals: make(map[string]registry.Totals), doubt: n.stray}
	p.leaves = make([]byte, 0, digestSize*int(p.last-p.first+1))
	err = n.each(func(n *numbered) error {
		var leaf [digestSize]byte
		switch {
		case n.version != nil:
			v.follow(n.version, hosts, &found)
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
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found.add(&found)
	return err
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
	return t.hash.leaf(&e.Entry, e.digest)
}

// follow compares by what the targets of a version are found, and adds to what follows from versions.
func (v *verifier) follow(e *sealed, hosts map[string]int64, found *findings) {
	id := int64(0)
	if v.current.has(e.Seq) {
		id = int64(e.First)
		namespace := registry.Namespace(e.Name)
		totals := found.totals[namespace]
		totals.Add(&e.Entry, 1)
		found.totals[namespace] = totals
		found.current.add(one(v, pointer{id, int64(e.Seq), int64(e.Status), e.Alias}))
		for _, word := range titleWords(&e.Entry) {
			found.words.add(one(v, titleWord{word, e.First}))
		}
	}
	for i, place := range e.places {
		if place.host != hosts[registry.HostOf(e.Targets[i].URI)] {
			v.report(fmt.Sprintf("%s: a target of version %d, number %d, is not found by its host", e.Key, e.Version, e.Seq))
		}
		found.doubt = found.doubt || place.current != id
	}
}

// hostsOf returns host.id of the hosts of the targets of versions.
func (t *transaction) hostsOf(all []sealed) (map[string]int64, error) {
	reversed := make(map[string]string) // by the host of the URI
	for i := range all {
		for j := range all[i].Targets {
			if host := registry.HostOf(all[i].Targets[j].URI); host != "" && reversed[host] == "" {
				reversed[host] = reverse(host)
			}
		}
	}
	ids := make(map[string]int64, len(reversed))
	err := t.conn.Query("SELECT id, reversed FROM host WHERE reversed IN ($1...)", func(row Row) error {
		ids[row.Text(1)] = row.Int(0)
		return nil
	}, slices.Collect(maps.Values(reversed)))
	hosts := make(map[string]int64, len(reversed))
	for host, reversed := range reversed {
		hosts[host] = ids[reversed]
	}
	return hosts, err
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

// derived reports what does not follow from versions. Statements that read all names or targets are run only where these may find something.
func (v *verifier) derived(t *transaction) error {
	doubt := v.found.doubt || v.found.current != v.names
	for _, check := range []struct {
		run                bool
		problem, statement string
	}{
		{doubt, "%s: its current version, number %d, is not one of it, or has another status or alias", "SELECT n.key, n.version FROM name n " +
			"LEFT JOIN version v ON v.seq = n.version AND v.name = n.id AND v.status = n.status AND v.alias IS NOT DISTINCT FROM n.alias WHERE v.seq IS NULL"},
		{true, "%s: its version number %d is later than the current one", "SELECT n.key, v.seq FROM version v JOIN name n ON n.id = v.name " +
			"WHERE v.number > 1 AND v.seq > n.version"},
		{true, "%s: the version before number %d is missing", "SELECT n.key, v.seq FROM version v JOIN name n ON n.id = v.name WHERE v.number > 1 AND NOT EXISTS " +
			"(SELECT 1 FROM version p WHERE p.name = v.name AND p.number > 1 AND p.number = v.number - 1) AND NOT (v.number = 2 AND EXISTS " +
			"(SELECT 1 FROM version p WHERE p.seq = v.name AND p.name = v.name AND p.number = 1))"},
		{doubt, "%s: a target of number %d is not found by its host, or should not be", "SELECT n.key, t.version FROM target t JOIN version v ON v.seq = t.version " +
			"JOIN name n ON n.id = v.name WHERE t.current IS DISTINCT FROM CASE WHEN n.version = t.version THEN n.id END"},
		{doubt, "%s is a target of number %d, which there is not", "SELECT t.uri, t.version FROM target t LEFT JOIN version v ON v.seq = t.version AND v.name IS NOT NULL " +
			"WHERE v.seq IS NULL"},
		{true, "%s, whose version is number %d, is an alias of a name that is not registered, nor below a prefix", "SELECT n.key, n.version FROM name n " +
			"WHERE n.alias IS NOT NULL AND NOT EXISTS (SELECT 1 FROM name a WHERE a.kind = 0 AND a.key = n.alias) " +
			"AND NOT EXISTS (SELECT 1 FROM name p WHERE p.kind = 1 AND substr(n.alias, 1, length(p.key)) = p.key)"},
	} {
		if !check.run {
			continue
		}
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
	for namespace, found := range v.found.totals {
		if stored[namespace] != found {
			v.report(fmt.Sprintf("%s: the totals say %+v, and there are %+v", namespace, stored[namespace], found))
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
	var stored sum
	var last titleWord
	for rows := partSize; rows == partSize; {
		rows = 0
		err := t.conn.Query("SELECT word, name FROM title_word WHERE (word, name) > ($1, $2) ORDER BY word, name LIMIT $3", func(row Row) error {
			rows++
			last = titleWord{row.Text(0), registry.Seq(row.Int(1))}
			stored.add(one(v, last))
			return nil
		}, last.word, int64(last.name), int64(partSize))
		if err != nil {
			return err
		}
	}
	if words := v.found.words; stored != words {
		v.report(fmt.Sprintf("the %d words of titles that names are found by are not the %d that they have", stored.n, words.n))
	}
	return nil
}
