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

// KindRewrite is the kind of the change set of a rewrite.
const KindRewrite = "rewrite"

// Rewrite replaces the beginning of the target URIs of all names and prefixes that begin with Prefix, withdrawn
// ones included, as one change set. An entry that was changed after the rewrite started is a conflict and is
// left unchanged. An interrupted rewrite is continued by a Rewrite with the same Source, or, without Source, with
// the same Prefix, Replace and With by the same actor.
type Rewrite struct {
	Prefix  string // canonical beginning of the names; "" is all names
	Replace string // beginning of the URIs to replace, compared by bytes
	With    string // its replacement
	Note    string // reason; "" generates a note with both beginnings
	// AsOf is a Seq: an entry changed after it is a conflict. It is typically the result of a dry run; 0 is the
	// Seq at the start.
	AsOf Seq
	// DryRun reports what would be changed, and writes nothing.
	DryRun bool
	// Rewritten and Conflict are called for each key, Progress after each transaction; calls are serialized.
	// They may be nil.
	Rewritten func(Changed)
	Conflict  func(key Key, err error)
	Progress  func(RewriteResult)
	// Transaction is how many entries are read per transaction; 0 is 10,000.
	Transaction int
	// Source identifies the rewrite, so that no other one continues it; "" is none.
	Source string
	// KeepPosition keeps the position of a rewrite that has ended: another one with the same Source writes nothing,
	// and returns the same. The caller removes the document of Source from TableImports.
	KeepPosition bool
}

// RewriteResult is the result of a Rewrite, including the runs that it continues.
type RewriteResult struct {
	Set       ChangeSet `json:"set"` // the new change set; its Number is 0 if nothing was changed
	AsOf      Seq       `json:"as_of"`
	Names     int64     `json:"names"` // entries that were read
	Changed   int64     `json:"changed"`
	Conflicts int64     `json:"conflicts"`
	Continued bool      `json:"-"`
}

const rewritePage = 10_000

// Rewrite runs a Rewrite. If it returns an error, the transactions before it are committed.
func (r *Registry) Rewrite(ctx context.Context, actor Actor, w Rewrite) (RewriteResult, error) {
	if err := w.Check(actor); err != nil {
		return RewriteResult{}, err
	}
	if w.Note == "" {
		w.Note = fmt.Sprintf("targets moved from %s to %s", w.Replace, w.With)
	}
	if w.Transaction <= 0 {
		w.Transaction = rewritePage
	}
	run := &rewriteRun{Rewrite: w, registry: r, actor: actor}
	if err := run.begin(ctx); err != nil {
		return run.at.RewriteResult, err
	}
	for !run.at.Done {
		if err := ctx.Err(); err != nil {
			return run.at.RewriteResult, err
		}
		if err := run.page(ctx); err != nil {
			return run.at.RewriteResult, err
		}
		if w.Progress != nil {
			w.Progress(run.at.RewriteResult)
		}
	}
	return run.at.RewriteResult, nil
}

// Check returns an error for an invalid Rewrite, or ErrDenied if the actor lacks permission.
func (w *Rewrite) Check(actor Actor) error {
	if err := actor.CheckRole(Writer, Prefix(w.Prefix)); err != nil {
		return err
	}
	switch {
	case w.Replace == "" || w.With == "":
		return Invalid("rewrite_incomplete", "replace",
			"a rewrite requires replace and with: the old and the new start of URIs")
	case w.Replace == w.With:
		return Invalid("rewrite_to_itself", "with", "a rewrite from %s to itself changes nothing", w.Replace)
	case w.AsOf < 0:
		return fmt.Errorf("%w: invalid version number %d", ErrInvalid, w.AsOf)
	}
	for field, text := range map[string]string{"replace": w.Replace, "with": w.With, "note": w.Note} {
		if err := CheckText(field, text, MaxText); err != nil {
			return err
		}
	}
	return nil
}

// rewritePosition is the progress of a rewrite: a document that is written in the same transaction as the
// changes.
type rewritePosition struct {
	RewriteResult
	Started time.Time `json:"started"`
	Note    string    `json:"note"`
	Kind    Kind      `json:"kind"`
	After   string    `json:"after"` // the last name that was read
	Done    bool      `json:"done,omitempty"`
}

// rewriteRun is a running Rewrite.
type rewriteRun struct {
	Rewrite
	registry *Registry
	actor    Actor
	at       rewritePosition
	document []byte // the stored form of the position
}

// page rewrites the next entries, in one transaction.
func (r *rewriteRun) page(ctx context.Context) error {
	var next rewritePosition
	var changes []Changed
	var conflicts []rewriteConflict
	var document []byte
	err := r.write(ctx, func(tx WriteTx) error {
		if err := r.checkSingleRun(tx); err != nil {
			return err
		}
		next, changes, conflicts = r.at, nil, nil
		page, err := tx.List(next.Kind, r.Prefix, next.After, r.Transaction)
		if err != nil {
			return err
		}
		w := NewBatch(tx, r.actor.Name, next.Started)
		w.SetChangeSet(next.Set)
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
			next.Set = w.ChangeSet()
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

// isOfEntry reports whether an error concerns a single entry only, so that the rewrite continues with the next
// one.
func isOfEntry(err error) bool {
	return errors.Is(err, ErrInvalid) || errors.Is(err, ErrConflict) || errors.Is(err, ErrDenied)
}

// advance moves the position behind a page. Prefixes are rewritten before names.
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

// show reports changes and conflicts to the audit and to the callbacks.
func (r *rewriteRun) show(ctx context.Context, changes []Changed, conflicts []rewriteConflict) {
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

// entry rewrites the targets of an entry.
func (r *rewriteRun) entry(tx Tx, w *Batch, e *Entry) error {
	record, is := r.moved(e.Record)
	if e.Seq > r.at.AsOf {
		was, err := versionAsOf(tx, e, r.at.AsOf)
		if err != nil {
			return err
		}
		if _, before := r.moved(was.Record); is || before {
			return fmt.Errorf("%w: changed since, by %s at %s", ErrConflict, e.By,
				e.Changed.Format("2006-01-02 15:04:05"))
		}
		return nil
	}
	if !is {
		return nil
	}
	if err := r.actor.CheckRole(e.RequiredRole(), e.Key); err != nil {
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

// moved returns a record with rewritten targets, and whether any target was rewritten.
func (r *rewriteRun) moved(record Record) (Record, bool) {
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

// versionAsOf returns the version of a key as of a Seq, the zero value if there was none.
func versionAsOf(tx Tx, e *Entry, seq Seq) (Entry, error) {
	found, err := tx.Versions(e.Key, seq+1, 1)
	if err != nil || len(found) == 0 {
		return Entry{}, err
	}
	return found[0], nil
}

// key returns the key of the document that stores the position.
func (r *rewriteRun) key() string {
	if r.Source != "" {
		return r.Source
	}
	what, _ := json.Marshal([]string{r.actor.Name, r.Prefix, r.Replace, r.With}) // strings never fail to marshal
	return fmt.Sprintf("rewrite %x", sha256.Sum256(what))
}

// begin sets the start position, or reads that of an interrupted run.
func (r *rewriteRun) begin(ctx context.Context) error {
	r.at = rewritePosition{Started: r.registry.Now(), Note: r.Note, Kind: KindPrefix}
	r.at.Set = ChangeSet{Kind: KindRewrite, By: r.actor.Name, Note: r.Note, Time: r.at.Started}
	head, err := r.registry.config.Store.Head(ctx)
	if err != nil {
		return fmt.Errorf("rewriting targets: %w", err)
	}
	switch r.at.AsOf = r.AsOf; {
	case r.AsOf > head:
		return fmt.Errorf("%w: no number %d yet: the last one is %d", ErrInvalid, r.AsOf, head)
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
		return fmt.Errorf("%w: rewrite position: %w", ErrDamaged, err)
	}
	r.at.Continued = true
	return nil
}

// checkSingleRun returns ErrConflict if another process runs the same rewrite.
func (r *rewriteRun) checkSingleRun(tx Tx) error {
	if r.DryRun {
		return nil
	}
	document, err := tx.Document(TableImports, r.key())
	if err == nil && !bytes.Equal(document, r.document) {
		err = fmt.Errorf("%w: another process is running the same rewrite", ErrConflict)
	}
	return err
}

// putPosition stores the position of the rewrite, and removes it at the end, unless it is to be
// kept.
func (r *rewriteRun) putPosition(tx WriteTx, p *rewritePosition) (document []byte, err error) {
	if r.DryRun {
		return nil, nil
	}
	if !p.Done || r.KeepPosition {
		if document, err = json.Marshal(p); err != nil {
			return nil, fmt.Errorf("recording the rewrite position: %w", err)
		}
	}
	return document, tx.Put(TableImports, []Document{{Key: r.key(), Value: document}})
}

// write calls f in a transaction, which writes nothing in a dry run. A write transaction ignores the
// cancellation of ctx.
func (r *rewriteRun) write(ctx context.Context, f func(WriteTx) error) error {
	store := r.registry.config.Store
	if r.DryRun {
		return store.Read(ctx, func(tx Tx) error { return f(DryRunTx(tx)) })
	}
	return store.Write(context.WithoutCancel(ctx), f)
}
