package store

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// dumpPage is how many rows are read per page.
const dumpPage = 1000

// Dump implements registry.Store.
func (s *Store) Dump(ctx context.Context, to io.Writer, made time.Time, progress func(done, all registry.Seq)) error {
	return s.db.Read(ctx, func(c Conn) error {
		d := &dumper{t: &transaction{db: s.db, conn: c}, to: bufio.NewWriter(to), progress: progress}
		d.json = json.NewEncoder(d.to)
		d.json.SetEscapeHTML(false)
		if err := d.all(made); err != nil {
			return fmt.Errorf("dumping the registry: %w", err)
		}
		return d.to.Flush()
	})
}

// dumper writes a dump.
type dumper struct {
	t        *transaction
	to       *bufio.Writer
	json     *json.Encoder
	lines    int64
	progress func(done, all registry.Seq)
}

func (d *dumper) line(value any) error {
	d.lines++
	return d.json.Encode(value)
}

// all writes all lines.
func (d *dumper) all(made time.Time) error {
	last, err := d.t.chain()
	if err != nil {
		return err
	}
	err = d.line(dumpHead{Format: dumpFormat, Version: dumpVersion, Head: last.last, Made: made.UTC()})
	if err == nil {
		err = d.sets()
	}
	if err == nil {
		err = d.commits(last.last)
	}
	for _, of := range tables() {
		if err == nil {
			err = d.rowsOf(&of)
		}
	}
	if err != nil {
		return err
	}
	return d.line(dumpLine{End: &dumpEnd{d.lines}})
}

func (d *dumper) sets() error {
	for after := registry.Seq(0); ; {
		page, err := d.t.ChangeSets(after, dumpPage)
		if err != nil {
			return err
		}
		for i := range page {
			if err := d.line(dumpLine{Set: &page[i]}); err != nil {
				return err
			}
			after = page[i].Number
		}
		if len(page) < dumpPage {
			return nil
		}
	}
}

// commits writes the lines of all commits, each behind the lines of its versions and events.
func (d *dumper) commits(head registry.Seq) error {
	for last := registry.Seq(0); last < head; {
		page, err := d.t.Commits(last, dumpPage)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return fmt.Errorf("%w: numbers from %d on without a commit", registry.ErrDamaged, last+1)
		}
		for _, c := range page {
			for first := c.First; first <= c.Last; first += dumpPage {
				if err := d.rows(first, min(first+dumpPage-1, c.Last)); err != nil {
					return err
				}
			}
			if err := d.line(dumpLine{Commit: &dumpedCommit{
				Last: c.Last, Set: c.Set,
				Digest: c.Digest[:],
			}}); err != nil {
				return err
			}
			last = c.Last
			d.progress(last, head)
		}
	}
	return nil
}

// rows writes the lines of the versions and events from first to last.
func (d *dumper) rows(first, last registry.Seq) error {
	n, err := d.t.between(first, last)
	if err != nil {
		return err
	}
	return n.each(func(r *numbered) error {
		var l dumpLine
		switch {
		case r.version != nil:
			l.Version = dumped(r.version)
		case r.purged != nil:
			l.Purged = &dumpedPurged{Seq: r.seq, Leaf: hex.EncodeToString(r.purged.leaf[:])}
		case r.event != nil:
			e := r.event
			l.Event = &dumpedEvent{
				Seq: e.Seq, Type: e.Kind, Prefix: e.Key.Kind == registry.KindPrefix, Name: e.Name,
				Time: e.Time.UnixMilli(), By: e.By, Note: e.Note, Of: e.Affected,
			}
		default:
			return fmt.Errorf("%w: number %d is missing", registry.ErrDamaged, r.seq)
		}
		return d.line(l)
	})
}

// rowsOf writes the rows of a side table.
func (d *dumper) rowsOf(of *table) error {
	for last := []any(nil); ; {
		page, next, err := of.read(d.t.conn, last, dumpPage)
		if err != nil {
			return err
		}
		for _, row := range page {
			if err := d.line(dumpedRow{Table: of.name, Row: row}); err != nil {
				return err
			}
		}
		if last = next; last == nil {
			return nil
		}
	}
}
