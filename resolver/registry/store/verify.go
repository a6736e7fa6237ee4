package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"runtime"
	"sync"

	"github.com/urnd/urnd/resolver/registry"
)

// Verify implements registry.Store: it recomputes all digests, compares the derived tables with the versions,
// and lets the database check its own structures.
func (s *Store) Verify(ctx context.Context, report func(problem string), progress func(done, all registry.Seq)) error {
	v := &verifier{store: s, progress: progress, seed: maphash.MakeSeed()}
	v.report = func(problem string) {
		v.mu.Lock()
		defer v.mu.Unlock()
		report(problem)
	}
	below, checked := 0, error(nil) // result of the database check, which runs concurrently
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
		return nil // data that cannot be read cannot be compared
	case errors.Is(err, registry.ErrDamaged):
		v.report(err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("verifying the registry: %w", err)
	}
	if err := v.derived(ctx); err != nil {
		return fmt.Errorf("verifying the registry: %w", err)
	}
	err = s.db.Read(ctx, func(c Conn) error {
		t := &transaction{db: s.db, conn: c}
		return errors.Join(v.uncommitted(t), v.compareTotals(t), v.tokens(t))
	})
	if err != nil {
		return fmt.Errorf("verifying the registry: %w", err)
	}
	return nil
}

// verifier verifies a store.
type verifier struct {
	store    *Store
	report   func(problem string)
	progress func(done, all registry.Seq)
	head     registry.Seq // end of the verified range
	last     registry.Seq // last seq of all versions and events
	seed     maphash.Seed // seed of the hashes in sums
	current  bitmap       // seqs of the current versions according to the table name
	names    sum          // of the rows of the table name

	mu    sync.Mutex // serializes report and progress
	found findings   // of all parts

	// Change sets with missing commits, unless these were written after the verification started.
	unfinished []*setSize
}

// partSize is how many versions and events a reader reads per page.
const partSize = 1 << 12

// part holds the leaves of a range of seqs.
type part struct {
	first, last registry.Seq
	leaves      []byte
	err         error
	done        chan struct{}
}

// chain verifies the digests of all versions and commits up to the head, with one reader per processor.
func (v *verifier) chain(ctx context.Context) (err error) {
	if v.head, err = v.store.Head(ctx); err != nil {
		return err
	}
	err = v.store.db.Read(ctx, func(c Conn) error {
		t := &transaction{db: v.store.db, conn: c}
		if err := v.bound(t); err != nil {
			return err
		}
		return v.readCurrent(t)
	})
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
				p.err = v.store.db.Read(ctx,
					func(c Conn) error { return v.leaves(&transaction{db: v.store.db, conn: c}, p) })
				close(p.done)
			}
		})
	}
	return v.commits(ctx, parts)
}

// bound reads the last seq. The head cannot be greater, unless the last commit is damaged; the lesser of both
// ends the verified range.
func (v *verifier) bound(t *transaction) error {
	err := t.conn.Query("SELECT (SELECT max(seq) FROM version), (SELECT max(seq) FROM event)", func(row Row) error {
		v.last = registry.Seq(max(row.Int(0), row.Int(1)))
		return nil
	})
	if err == nil && v.head > v.last {
		v.report(fmt.Sprintf("the last commit ends at number %d, but the last number is %d", v.head, v.last))
	}
	v.head = max(0, min(v.head, v.last))
	return err
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
	found := findings{totals: make(map[string]registry.Totals), warning: n.stray}
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
			if len(n.event.Affected) == 0 {
				v.report(fmt.Sprintf("number %d records a removal from %s that did not happen", n.seq, n.event.Key))
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
			v.report(fmt.Sprintf("%s: version %d, number %d, differs from its digest: targets, contact, metadata or "+
				"digest changed", e.Key, e.Version, e.Seq))
		}
	} else if len(e.Targets) > 0 || e.Contact != "" || e.Metadata != "" {
		v.report(fmt.Sprintf("%s: version %d, number %d, is redacted, but has content", e.Key, e.Version, e.Seq))
	}
	return t.hash.leaf(&e.Entry, e.digest)
}

// maxProblems limits how many problems of one kind are reported.
const maxProblems = 100

// derivedSize is the number of seqs per statement of derivedChecks: few enough to stay within the statement
// timeout of a database.
const derivedSize = 1 << 14

// derivedCheck finds rows that contradict the versions, in the range of seqs from $1 to $2, at most $3. Each
// row has a text and a number, the arguments of problem.
type derivedCheck struct {
	run                bool
	problem, statement string
}

// derivedChecks returns the checks by ranges of seqs. Those that read all names or targets run only after an
// indication of damage (warning).
func derivedChecks(warning bool) []derivedCheck {
	return []derivedCheck{
		{
			warning, "%s: current version, number %d, belongs to another name, or has a different status or alias",
			"SELECT n.key, n.version FROM name n " +
				"LEFT JOIN version v ON v.seq = n.version AND v.name = n.id AND v.status = n.status AND v.alias IS " +
				"NOT DISTINCT FROM n.alias WHERE n.id >= $1 AND n.id <= $2 AND v.seq IS NULL LIMIT $3",
		},
		{
			true, "%s: version number %d is later than the current one",
			"SELECT n.key, v.seq FROM version v JOIN name n ON n.id = v.name " +
				"WHERE v.number > 1 AND v.name >= $1 AND v.name <= $2 AND v.seq > n.version LIMIT $3",
		},
		{
			true, "%s: the version before number %d is missing",
			"SELECT n.key, v.seq FROM version v JOIN name n ON n.id = v.name WHERE v.number > 1 " +
				"AND v.name >= $1 AND v.name <= $2 AND NOT EXISTS " +
				"(SELECT 1 FROM version p WHERE p.name = v.name AND p.number > 1 AND p.number = v.number - 1) " +
				"AND NOT (v.number = 2 AND EXISTS " +
				"(SELECT 1 FROM version p WHERE p.seq = v.name AND p.name = v.name AND p.number = 1)) LIMIT $3",
		},
		{
			warning, "%s: wrong host index of a target of number %d",
			"SELECT n.key, t.version FROM target t JOIN version v ON v.seq = t.version " +
				"JOIN name n ON n.id = v.name WHERE t.version >= $1 AND t.version <= $2 AND t.current IS DISTINCT " +
				"FROM CASE WHEN n.version = t.version THEN n.id END LIMIT $3",
		},
		{
			warning, "%s is a target of the missing number %d",
			"SELECT t.uri, t.version FROM target t LEFT JOIN version v ON v.seq = t.version AND v.name IS NOT NULL " +
				"WHERE t.version >= $1 AND t.version <= $2 AND v.seq IS NULL LIMIT $3",
		},
		{
			true, "%schange set %d without a commit",
			"SELECT CASE WHEN s.kind = '' THEN '' ELSE s.kind || ' ' END, s.id FROM change_set s " +
				"WHERE s.id >= $1 AND s.id <= $2 AND NOT EXISTS (SELECT 1 FROM commits c WHERE c.change_set = s.id) " +
				"LIMIT $3",
		},
	}
}

// derived reports derived data that contradicts the versions. Each statement is a transaction of its own, so
// that a large store can clean up in the meantime.
func (v *verifier) derived(ctx context.Context) error {
	last, err := v.store.Head(ctx)
	if err != nil {
		return err
	}
	last = min(last, v.last)
	for _, check := range derivedChecks(v.found.warning || v.found.current != v.names) {
		problems := maxProblems
		for first := registry.Seq(1); check.run && problems > 0 && (first == 1 || first <= last); first += derivedSize {
			from, to := int64(first), int64(first)+derivedSize-1
			if first == 1 {
				from = math.MinInt64 // the first and last range are open: a damaged number may lie outside
			}
			if first+derivedSize > last {
				to = math.MaxInt64
			}
			err := v.store.db.Read(ctx, func(c Conn) error {
				return c.Query(check.statement, func(row Row) error {
					problems--
					v.report(fmt.Sprintf(check.problem, row.Text(0), row.Int(1)))
					return nil
				}, from, to, int64(problems))
			})
			if err != nil {
				return err
			}
		}
	}
	return v.dangling(ctx)
}

// dangling reports dangling aliases: their target is neither registered nor below a registered prefix.
func (v *verifier) dangling(ctx context.Context) error {
	alias, key, problems := "", "", maxProblems
	for rows := partSize; rows == partSize && problems > 0; {
		rows = 0
		err := v.store.db.Read(ctx, func(c Conn) error {
			return c.Query("SELECT n.alias, n.key, n.version, CASE WHEN EXISTS (SELECT 1 FROM name a WHERE a.kind = "+
				"0 AND a.key = n.alias) "+
				"OR EXISTS (SELECT 1 FROM name p WHERE p.kind = 1 AND substr(n.alias, 1, length(p.key)) = p.key) "+
				"THEN 1 ELSE 0 END FROM name n "+
				"WHERE n.alias IS NOT NULL AND (n.alias, n.key) > ($1, $2) ORDER BY n.alias, n.key LIMIT $3",
				func(row Row) error {
					rows++
					alias, key = row.Text(0), row.Text(1)
					if row.Int(3) == 0 && problems > 0 {
						problems--
						v.report(fmt.Sprintf("%s, version number %d, is an alias of a name neither registered nor "+
							"below "+
							"a prefix", key, row.Int(2)))
					}
					return nil
				}, alias, key, int64(partSize))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tokens reports damaged tokens, which cannot be used.
func (v *verifier) tokens(t *transaction) error {
	all, err := t.Tokens()
	for _, s := range all {
		if s.Damaged != nil {
			v.report(s.Damaged.Error())
		}
	}
	return err
}

// uncommitted reports versions and events behind the last commit.
func (v *verifier) uncommitted(t *transaction) error {
	last, err := t.chain()
	if err != nil {
		return err
	}
	return t.conn.Query("SELECT seq FROM version WHERE seq > $1 UNION ALL SELECT seq FROM event WHERE seq > $1 "+
		"ORDER BY 1 LIMIT $2", func(row Row) error {
		v.report(fmt.Sprintf("number %d without a commit", row.Int(0)))
		return nil
	}, int64(last.last), int64(maxProblems))
}
