package registry

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/registry/merkle"
)

// A portable backup is the content of a store as NDJSON, without what follows from it: a program with another schema makes a store of it.
const (
	portableFormat        = "urnd-registry"
	portableFormatVersion = 1
)

// documentsPage is how many documents are read at a time: those of jobs are larger than rows.
const documentsPage = 100

// WritePortable writes a portable backup of a store as it is at one moment. Its memory does not depend on the size of the store, but for 24
// bytes for each version that renames a name. progress is called with how much was done, and all; made is when the backup was begun.
func WritePortable(ctx context.Context, w io.Writer, s Store, made time.Time, progress func(done, all int64)) error {
	buffered := bufio.NewWriter(w)
	err := s.Read(ctx, func(tx Tx) error {
		p := portable{ctx: ctx, tx: tx, progress: progress, json: json.NewEncoder(buffered)}
		p.json.SetEscapeHTML(false)
		return p.write(made)
	})
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing a portable backup: %w", err)
	}
	return nil
}

// portable writes a portable backup within a transaction.
type portable struct {
	ctx      context.Context //nolint:containedctx // it lives as long as one call
	tx       Tx
	json     *json.Encoder
	progress func(done, all int64)
	renames  renames
	head     Seq // the last one of the store
	chained  Seq // the last one in the tree
	lines    int64
	commits  commitCursor
}

func (p *portable) write(made time.Time) error {
	if err := p.scan(); err != nil {
		return err
	}
	if err := p.line(portableHead{portableFormat, portableFormatVersion, p.head, made.UTC().Truncate(time.Second)}); err != nil {
		return err
	}
	for _, part := range []func() error{p.sets, p.rows, p.documents} {
		if err := part(); err != nil {
			return err
		}
	}
	return p.line(portableLine{End: &portableEnd{p.lines}})
}

func (p *portable) line(line any) error {
	p.lines++
	return p.json.Encode(line)
}

// eachRow calls f with all rows, in their order. It is the first or second of two passes: 0 or 1.
func (p *portable) eachRow(pass int64, f func(*Row) error) error {
	for after, more := Seq(0), true; more; {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		page, err := p.tx.Rows(after, rowsPage)
		if err != nil {
			return err
		}
		for i := range page {
			after = page[i].Seq
			if err := f(&page[i]); err != nil {
				return err
			}
		}
		more = len(page) == rowsPage
		p.progress(pass*int64(p.head)+int64(after), 2*int64(p.head))
	}
	return nil
}

// scan finds the last Seq, and what was renamed.
func (p *portable) scan() error {
	tree, err := treeOf(p.tx)
	if err != nil {
		return err
	}
	if tree != nil {
		p.chained = Seq(tree.Size()) //nolint:gosec // a Seq fits
	}
	p.head = p.chained
	p.renames = newRenames()
	err = p.eachRow(0, func(row *Row) error {
		p.head = max(p.head, row.Seq)
		if !row.IsVersion() {
			return nil
		}
		e, err := row.Entry()
		if err == nil && e.Former != "" {
			p.renames.add(&e)
		}
		return err
	})
	p.renames.sort()
	return err
}

// sets writes the change sets. What was written without a tree after the last commit is one, as the next change would make it one.
func (p *portable) sets() error {
	for key, more := "", true; more; {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		var page []ChangeSet
		var err error
		if page, key, more, err = pageOfSets(p.tx, key, span{1, math.MaxInt64}); err != nil {
			return err
		}
		for i := range page {
			if err := p.set(&page[i]); err != nil {
				return err
			}
		}
	}
	p.commits = commitCursor{tx: p.tx, head: p.head}
	if p.chained == p.head {
		return nil
	}
	return p.set(&ChangeSet{Number: p.chained + 1, Last: p.head, Rows: int64(p.head - p.chained), Kind: KindBefore})
}

func (p *portable) set(set *ChangeSet) error {
	if set.Kind == KindBefore {
		set.Kind = KindImport
	}
	if !valid(set.Kind, set.By, set.Note) {
		return fmt.Errorf("%w: the change set %d is not UTF-8", ErrDamaged, set.Number)
	}
	return p.line(portableLine{Set: set})
}

// rows writes what each Seq has.
func (p *portable) rows() error {
	next := Seq(1)
	err := p.eachRow(1, func(row *Row) error {
		for ; next < row.Seq; next++ {
			if err := p.noRow(next); err != nil {
				return err
			}
		}
		next = row.Seq + 1
		return p.row(row)
	})
	for ; next <= p.head && err == nil; next++ {
		err = p.noRow(next)
	}
	return err
}

// noRow writes a Seq that has no row, as versions have none that were purged before there was a tree.
func (p *portable) noRow(seq Seq) error {
	set, err := p.commits.setOf(seq)
	if err != nil {
		return err
	}
	return p.line(portableLine{Purged: &portablePurged{seq, set, hex.EncodeToString(make([]byte, len(merkle.Hash{})))}})
}

func (p *portable) row(row *Row) error {
	set, err := p.commits.setOf(row.Seq)
	if err != nil {
		return err
	}
	var line portableLine
	switch {
	case row.isPurged():
		leaf, err := row.leaf()
		if err != nil {
			return err
		}
		line.Purged = &portablePurged{row.Seq, set, hex.EncodeToString(leaf[:])}
	case row.IsVersion():
		line.Version, err = p.version(row, set)
	default:
		line.Event, err = p.event(row, set)
	}
	if err != nil {
		return err
	}
	return p.line(line)
}

// version returns a version by the name that it has now.
func (p *portable) version(row *Row, set Seq) (*portableVersion, error) {
	e, err := row.Entry()
	if err != nil {
		return nil, err
	}
	key, err := p.renames.present(p.tx, e.Key, e.Seq)
	if err != nil {
		return nil, err
	}
	if !validEntry(&e) {
		return nil, fmt.Errorf("%w: number %d, of %q, is not UTF-8", ErrDamaged, e.Seq, e.Name)
	}
	line := &portableVersion{
		Seq: e.Seq, Set: set, Prefix: e.Kind == KindPrefix, Name: key.Name, Version: e.Version, Changed: e.Changed.UnixMilli(), By: e.By, Note: e.Note,
		Status: e.Status, Since: e.Since.UnixMilli(), Reason: e.Reason, Successors: e.Successors, Alias: e.Alias, Metadata: e.Metadata, Contact: e.Contact,
		Redirect: e.Redirect, Pattern: e.Pattern, Authoritative: e.Authoritative, Sandbox: e.Sandbox, Redacted: e.Redacted,
	}
	for i := range e.Targets {
		t := &e.Targets[i]
		line.Targets = append(line.Targets, portableTarget{
			URI: t.URI, Type: t.Type, Language: t.Language, Priority: t.Priority, From: millisecondsOf(t.From), Until: millisecondsOf(t.Until),
			Note: t.Note, Rel: t.Rel, Title: t.Title, Context: t.Context,
		})
	}
	return line, nil
}

// event returns a redaction or a purge.
func (p *portable) event(row *Row, set Seq) (*portableEvent, error) {
	e, ok, err := eventOf(row, set)
	if err != nil {
		return nil, err
	}
	_, isPurge := row.purge()
	if !ok || e.Kind == KindPurge && !isPurge && len(row.Octets) > 0 {
		return nil, row.damaged()
	}
	if !valid(e.Name, e.By, e.Note) {
		return nil, fmt.Errorf("%w: number %d, of %q, is not UTF-8", ErrDamaged, e.Seq, e.Name)
	}
	if e.Kind == kindRedaction {
		if e.Key, err = p.renames.present(p.tx, e.Key, e.Of[0]); err != nil {
			return nil, err
		}
	}
	return &portableEvent{
		Seq: e.Seq, Set: set, Type: e.Kind, Prefix: e.Key.Kind == KindPrefix, Name: e.Name, Time: millisecondsOf(e.Time), By: e.By, Note: e.Note, Of: e.Of,
	}, nil
}

// documents writes what a registry has beside versions.
func (p *portable) documents() error {
	for _, t := range portableTables() {
		for after, more := "", true; more; {
			if err := p.ctx.Err(); err != nil {
				return err
			}
			page, err := p.tx.Documents(t.table, "", after, documentsPage)
			if err != nil {
				return err
			}
			for _, d := range page {
				after = d.Key
				if !valid(d.Key) || !utf8.Valid(d.Value) {
					return fmt.Errorf("%w: the document %q of the table %s is not UTF-8", ErrDamaged, d.Key, t.name)
				}
				if err := p.line(portableLine{Document: &portableDocument{t.name, d.Key, string(d.Value)}}); err != nil {
					return err
				}
			}
			more = len(page) == documentsPage
		}
	}
	return nil
}

// commitCursor finds the change sets of ascending Seqs.
type commitCursor struct {
	tx   Tx
	head Seq
	page []Document
	at   commit
}

// setOf returns the number of the change set of a Seq.
func (c *commitCursor) setOf(seq Seq) (set Seq, err error) {
	for c.at.last < seq {
		if len(c.page) == 0 {
			after := ""
			if c.at.last > 0 {
				after = seqKey(c.at.last)
			}
			if c.page, err = c.tx.Documents(TableCommits, "", after, changeSetsPage); err != nil {
				return 0, err
			}
		}
		if len(c.page) == 0 { // what was written without a tree
			c.at = commit{first: c.at.last + 1, last: c.head, set: c.at.last + 1}
			break
		}
		if c.at, err = commitOf(c.page[0]); err != nil {
			return 0, err
		}
		c.page = c.page[1:]
	}
	return c.at.set, nil
}
