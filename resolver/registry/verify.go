package registry

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/urnd/urnd/resolver/registry/merkle"
)

// Checker is a Store that can check what lies below entries and documents.
type Checker interface {
	// Check reports what is wrong. The error is not nil where it could not be checked at all.
	Check(ctx context.Context, report func(fault string)) error
}

// Verify checks a store, and reports what is wrong: that all versions are those that were written, by the tree of their hashes, that each
// key has all of them, and leads to the last one, and that aliases and totals are those of the names. It reads all of it with bounded
// memory, with as many readers as there are processors. report and progress are called one at a time, progress now and then
// with the Seq that it has come to, and the last one. The error is not nil where it could not be checked.
func Verify(ctx context.Context, s Store, report func(fault string), progress func(done, all Seq)) error {
	v := &verifier{store: s, report: oneByOne(report), progress: progress, seeds: newSeeds(), totals: make(map[string]*Totals)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var below error
	var wait sync.WaitGroup
	wait.Go(func() {
		if c, ok := s.(Checker); ok {
			below = c.Check(ctx, func(fault string) {
				v.damaged.Store(true)
				v.report(fault)
			})
		}
	})
	err := v.all(ctx)
	if err != nil && !errors.Is(err, ErrDamaged) {
		cancel()
	}
	wait.Wait()
	if below != nil && !errors.Is(below, context.Canceled) {
		return fmt.Errorf("checking the store: %w", below)
	}
	if v.damaged.Load() && errors.Is(err, ErrDamaged) {
		return nil // it has been reported, and what follows from it cannot be read
	}
	if err != nil {
		return fmt.Errorf("checking the registry: %w", err)
	}
	return nil
}

func oneByOne(report func(string)) func(string) {
	var mu sync.Mutex
	return func(fault string) {
		mu.Lock()
		defer mu.Unlock()
		report(fault)
	}
}

// verifier checks a store, whose versions up to head are read in parts.
type verifier struct {
	store    Store
	report   func(fault string)
	progress func(done, all Seq)
	seeds    seeds
	damaged  atomic.Bool // what lies below was reported
	head     Seq

	mu         sync.Mutex
	totals     map[string]*Totals // of the versions that are there: each less the one before it
	keys       int64              // that have versions
	last       sum                // of versions that no other one follows
	superseded bitmap
	purged     bitmap               // rows of which nothing is left
	named      bitmap               // by purges
	events     map[Seq]*merkle.Hash // versions that a redaction names, and what it says of them
	redacted   map[Seq]merkle.Hash  // versions that are redacted, and what they are
	begins     map[Seq]string       // digests of change sets, by their first row
	sealed     bool                 // whether there are rows that were written with a tree
	unknown    []unknownAlias
}

// all checks all but what lies below.
func (v *verifier) all(ctx context.Context) error {
	var err error
	if v.head, err = v.store.Head(ctx); err != nil {
		return err
	}
	for _, b := range []*bitmap{&v.superseded, &v.purged, &v.named} {
		*b = make(bitmap, v.head/64+1)
	}
	v.events, v.redacted, v.begins = make(map[Seq]*merkle.Hash), make(map[Seq]merkle.Hash), make(map[Seq]string)
	if err := v.versions(ctx); err != nil {
		return err
	}
	return v.store.Read(ctx, func(tx Tx) error {
		v.mu.Lock()
		defer v.mu.Unlock()
		later, err := tx.Rows(v.head, 1)
		if err != nil {
			return err
		}
		if err := v.current(tx, len(later) == 0); err != nil || len(later) > 0 {
			return err // what follows is of all rows, and some were written meanwhile
		}
		v.reportUnexplained()
		if err := v.aliases(tx); err != nil {
			return err
		}
		return v.compareTotals(tx)
	})
}

// versions reads all versions by several readers, part by part, and checks the tree over them.
func (v *verifier) versions(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	readers := runtime.GOMAXPROCS(0)
	parts := make(chan *part, readers) // in their order
	work := make(chan *part)
	var wait sync.WaitGroup
	defer func() {
		cancel() // or they wait for who takes their parts
		wait.Wait()
	}()
	wait.Go(func() {
		defer close(parts)
		defer close(work)
		for first := Seq(1); first <= v.head; first += partSize {
			p := &part{first: first, last: min(first+partSize-1, v.head), done: make(chan error, 1)}
			select {
			case parts <- p:
			case <-ctx.Done():
				return
			}
			select {
			case work <- p:
			case <-ctx.Done():
				p.done <- ctx.Err()
				return
			}
		}
	})
	for range readers {
		wait.Go(func() {
			for p := range work {
				p.done <- v.read(ctx, p)
			}
		})
	}
	return v.tree(ctx, parts)
}

const verifyPage = 1000
