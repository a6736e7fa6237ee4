package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
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
