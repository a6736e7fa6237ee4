package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// KindRewrite is the kind of change sets that rewrites make.
const KindRewrite = "rewrite"

// Rewrite moves the targets of all names and prefixes below a prefix, withdrawn ones too, as one change set: what URIs begin with is
// replaced. What somebody else has changed since it was begun is a conflict, and stays. One that was interrupted is continued by
// one with the same Below, Replace and With, of the same actor.
type Rewrite struct {
	Below   string // what the names begin with, canonical; "" is all
	Replace string // what the URIs begin with that are moved, by octets
	With    string // what they begin with then
	Note    string // why; "" says from where to where
	// AsOf is a Seq after which no name may have changed, such as the one that a dry run has returned; 0 is when it is begun.
	AsOf Seq
	// DryRun is to find out what would be done, and write nothing.
	DryRun bool
	// Rewritten and Conflict are called for each key, one at a time, and Progress after each transaction; nil is not called.
	Rewritten func(Changed)
	Conflict  func(key Key, err error)
	Progress  func(Rewritten)
	// Transaction is how many names are read in a transaction; 0 is 10,000.
	Transaction int
}

// Rewritten says what a Rewrite has done; where it was continued, all of it did.
type Rewritten struct {
	Set       ChangeSet `json:"set"` // that was made; its number is 0 where nothing was changed
	AsOf      Seq       `json:"as_of"`
	Names     int64     `json:"names"` // that were read
	Changed   int64     `json:"changed"`
	Conflicts int64     `json:"conflicts"`
	Continued bool      `json:"-"`
}

const rewritePage = 10_000

// Rewrite runs a Rewrite. Where it returns an error, what was written before is there.
func (r *Registry) Rewrite(ctx context.Context, actor Actor, w Rewrite) (Rewritten, error) {
	if err := w.Check(actor); err != nil {
		return Rewritten{}, err
	}
	if w.Note == "" {
		w.Note = fmt.Sprintf("targets moved from %s to %s", w.Replace, w.With)
	}
	if w.Transaction <= 0 {
		w.Transaction = rewritePage
	}
	run := &rewriting{Rewrite: w, registry: r, actor: actor}
	if err := run.begin(ctx); err != nil {
		return run.at.Rewritten, err
	}
	for !run.at.Done {
		if err := ctx.Err(); err != nil {
			return run.at.Rewritten, err
		}
		if err := run.page(ctx); err != nil {
			return run.at.Rewritten, err
		}
		if w.Progress != nil {
			w.Progress(run.at.Rewritten)
		}
	}
	return run.at.Rewritten, nil
}

// Check returns what is wrong with a Rewrite, or that the actor may not do it.
func (w *Rewrite) Check(actor Actor) error {
	if err := actor.May(Writer, Prefix(w.Below)); err != nil {
		return err
	}
	switch {
	case w.Replace == "" || w.With == "":
		return Invalid("rewrite_incomplete", "replace", "a rewrite needs what URIs begin with, and what they begin with then")
	case w.Replace == w.With:
		return Invalid("rewrite_to_itself", "with", "a rewrite from %s to itself changes nothing", w.Replace)
	case w.AsOf < 0:
		return fmt.Errorf("%w: %d is not a number of a version", ErrInvalid, w.AsOf)
	}
	for field, text := range map[string]string{"replace": w.Replace, "with": w.With, "note": w.Note} {
		if err := CheckText(field, text, MaxText); err != nil {
			return err
		}
	}
	return nil
}

// rewritePosition is how far a rewrite is: a document that is written in the same transaction as the names.
type rewritePosition struct {
	Rewritten
	Started time.Time `json:"started"`
	Note    string    `json:"note"`
	Kind    Kind      `json:"kind"`
	After   string    `json:"after"` // the last name that was read
	Done    bool      `json:"-"`
}

// rewriting is a Rewrite that runs.
type rewriting struct {
	Rewrite
	registry *Registry
	actor    Actor
	at       rewritePosition
	document []byte // of the position, as it is in the store
}

// page rewrites the next names in a transaction.
func (r *rewriting) page(ctx context.Context) error {
	var next rewritePosition
	var changes []Changed
	var conflicts []rewriteConflict
	var document []byte
	err := r.write(ctx, func(tx WriteTx) error {
		if err := r.isAlone(tx); err != nil {
			return err
		}
		next, changes, conflicts = r.at, nil, nil
		page, err := tx.List(next.Kind, r.Below, next.After, r.Transaction)
		if err != nil {
			return err
		}
		w := NewBatch(tx, r.actor.Name, next.Started)
		w.Into(next.Set)
		w.hold(page)
		for i := range page {
			if err := r.entry(tx, w, &page[i]); err != nil {
				if !isOfEntry(err) {
					return err
				}
				conflicts = append(conflicts, rewriteConflict{page[i].Key, err})
			}
		}
		if changes = w.Changes(); !r.DryRun {
			if changes, err = w.Flush(); err != nil {
				return err
			}
			next.Set = w.Set()
		}
		next.Names += int64(len(page))
		next.Changed += int64(len(changes))
		next.Conflicts += int64(len(conflicts))
		next.advance(page, r.Transaction)
		document, err = r.putPosition(tx, &next)
		return err
	})
	if err != nil {
		return fmt.Errorf("rewriting targets: %w", err)
	}
	r.at, r.document = next, document
	r.show(ctx, changes, conflicts)
	return nil
}

type rewriteConflict struct {
	key Key
	err error
}

// isOfEntry reports whether an error is about one entry, and the others go on.
func isOfEntry(err error) bool {
	return errors.Is(err, ErrInvalid) || errors.Is(err, ErrConflict) || errors.Is(err, ErrDenied)
}

// advance moves on after a page: prefixes come first.
func (p *rewritePosition) advance(page []Entry, size int) {
	switch {
	case len(page) == size:
		p.After = page[len(page)-1].Name
	case p.Kind == KindPrefix:
		p.Kind, p.After = KindName, ""
	default:
		p.Done = true
	}
}

// show passes on what was done.
func (r *rewriting) show(ctx context.Context, changes []Changed, conflicts []rewriteConflict) {
	if audit := r.registry.config.Audit; audit != nil && !r.DryRun && len(changes) > 0 {
		audit(ctx, r.actor, changes)
	}
	for _, c := range changes {
		if r.Rewritten != nil {
			r.Rewritten(c)
		}
	}
	for _, c := range conflicts {
		if r.Conflict != nil {
			r.Conflict(c.key, c.err)
		}
	}
}

// entry moves the targets of an entry.
func (r *rewriting) entry(tx Tx, w *Batch, e *Entry) error {
	record, is := r.moved(e.Record)
	if e.Seq > r.at.AsOf {
		was, err := versionAsOf(tx, e, r.at.AsOf)
		if err != nil {
			return err
		}
		if _, before := r.moved(was.Record); is || before {
			return fmt.Errorf("%w: it was changed since, by %s at %s", ErrConflict, e.By, e.Changed.Format("2006-01-02 15:04:05"))
		}
		return nil
	}
	if !is {
		return nil
	}
	if err := r.actor.May(e.Needs(), e.Key); err != nil {
		return err
	}
	record, err := r.registry.Check(e.Key, record)
	if err == nil {
		err = r.registry.CheckChange(*e, e.Key, record, true)
	}
	if err == nil {
		_, _, err = w.Put(e.Key, record, r.at.Note)
	}
	return err
}

// moved returns a record with its targets moved, and whether there are such.
func (r *rewriting) moved(record Record) (Record, bool) {
	is := false
	targets := make([]Target, len(record.Targets))
	for i, t := range record.Targets {
		if rest, ok := strings.CutPrefix(t.URI, r.Replace); ok {
			t.URI, is = r.With+rest, true
		}
		targets[i] = t
	}
	record.Targets = targets
	return record, is
}

// versionAsOf returns the version that a key had at a Seq, the zero value if there was none.
func versionAsOf(tx Tx, e *Entry, seq Seq) (Entry, error) {
	found, err := tx.Versions(e.Key, seq+1, 1)
	if err != nil || len(found) == 0 {
		return Entry{}, err
	}
	return found[0], nil
}

// key returns the key of the position of a rewrite.
func (r *rewriting) key() string {
	what, _ := json.Marshal([]string{r.actor.Name, r.Below, r.Replace, r.With}) // texts can be marshalled
	return fmt.Sprintf("rewrite %x", sha256.Sum256(what))
}

// begin sets where the rewrite begins, or continues.
func (r *rewriting) begin(ctx context.Context) error {
	r.at = rewritePosition{Started: r.registry.Now(), Note: r.Note, Kind: KindPrefix}
	r.at.Set = ChangeSet{Kind: KindRewrite, By: r.actor.Name, Note: r.Note, Time: r.at.Started}
	head, err := r.registry.config.Store.Head(ctx)
	if err != nil {
		return fmt.Errorf("rewriting targets: %w", err)
	}
	switch r.at.AsOf = r.AsOf; {
	case r.AsOf > head:
		return fmt.Errorf("%w: there is no number %d yet: the last one is %d", ErrInvalid, r.AsOf, head)
	case r.AsOf == 0:
		r.at.AsOf = head
	}
	if r.DryRun {
		return nil
	}
	err = r.registry.config.Store.Read(ctx, func(tx Tx) (err error) {
		r.document, err = tx.Document(TableImports, r.key())
		return err
	})
	if err != nil || r.document == nil {
		return err
	}
	if err := json.Unmarshal(r.document, &r.at); err != nil {
		return fmt.Errorf("%w: how far the rewrite is: %w", ErrDamaged, err)
	}
	r.at.Continued = true
	return nil
}

// isAlone returns ErrConflict where another process does the same.
func (r *rewriting) isAlone(tx Tx) error {
	if r.DryRun {
		return nil
	}
	document, err := tx.Document(TableImports, r.key())
	if err == nil && !bytes.Equal(document, r.document) {
		err = fmt.Errorf("%w: the same rewrite is being done by another process", ErrConflict)
	}
	return err
}

// putPosition records how far the rewrite is; at its end that is removed.
func (r *rewriting) putPosition(tx WriteTx, p *rewritePosition) (document []byte, err error) {
	if r.DryRun {
		return nil, nil
	}
	if !p.Done {
		if document, err = json.Marshal(p); err != nil {
			return nil, fmt.Errorf("recording how far the rewrite is: %w", err)
		}
	}
	return document, tx.Put(TableImports, []Document{{Key: r.key(), Value: document}})
}

// write calls f in a transaction, which writes nothing in a dry run. One is not canceled.
func (r *rewriting) write(ctx context.Context, f func(WriteTx) error) error {
	store := r.registry.config.Store
	if r.DryRun {
		return store.Read(ctx, func(tx Tx) error { return f(ReadOnly(tx)) })
	}
	return store.Write(context.WithoutCancel(ctx), f)
}
