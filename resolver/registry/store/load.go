package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urnd/urnd/resolver/registry"
)

const (
	// maxDumpLine limits the length of a line in bytes. The longest is the report of a job with all rejected
	// records.
	maxDumpLine = 64 << 20
	// loadPage is how many versions or rows are written per statement.
	loadPage = 10_000
)

// Load implements registry.Store.
func (s *Store) Load(ctx context.Context, from io.Reader, progress func(done, all registry.Seq)) error {
	return s.db.Write(ctx, false, func(c Conn) error {
		l := &loader{
			t: &transaction{db: s.db, conn: c}, lines: bufio.NewScanner(from), first: 1, next: 1,
			purged: make(map[registry.Seq][digestSize]byte), redacted: make(map[registry.Seq]bool),
			redactions: make(map[registry.Seq]registry.Seq), progress: progress,
		}
		l.lines.Buffer(nil, maxDumpLine)
		if err := l.all(); err != nil {
			return fmt.Errorf("line %d: %w", l.line, err)
		}
		return nil
	})
}

// loader reads a dump into an empty store.
type loader struct {
	t        *transaction
	lines    *bufio.Scanner
	line     int64
	head     dumpHead
	progress func(done, all registry.Seq)

	first, next registry.Seq // start of the current commit, and the next expected seq
	leaves      []byte       // of the current commit
	versions    []sealed
	// purged and redacted are versions whose event was not read yet; it comes later in the dump.
	purged   map[registry.Seq][digestSize]byte
	redacted map[registry.Seq]bool
	// redactions are the events that redacted versions before they were purged, by version.
	redactions map[registry.Seq]registry.Seq

	table table // table of rows
	rows  [][]any
}

var errCutOff = fmt.Errorf("%w: portable backup truncated", registry.ErrDamaged)

// all reads all lines.
func (l *loader) all() error {
	if last, err := l.t.chain(); err != nil {
		return err
	} else if last.last > 0 {
		return fmt.Errorf("%w: the registry is not empty: restore a portable backup into an empty one",
			registry.ErrConflict)
	}
	text, err := l.read()
	if err == nil {
		l.head, err = parseDumpHead(text)
	}
	for err == nil {
		if text, err = l.read(); err != nil {
			break
		}
		var of dumpLine
		if err := parseStrictly(text, &of); err != nil {
			return fmt.Errorf("%w: parsing the portable backup: %w", registry.ErrDamaged, err)
		}
		if of.End != nil {
			return l.end(of.End)
		}
		err = l.add(&of)
	}
	return err
}

// read returns the next line.
func (l *loader) read() ([]byte, error) {
	l.line++
	if l.lines.Scan() {
		return l.lines.Bytes(), nil
	}
	if err := l.lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the portable backup: %w", err)
	}
	return nil, errCutOff
}

func (l *loader) add(of *dumpLine) error {
	switch {
	case of.Set != nil:
		return l.t.insertSet(of.Set)
	case of.Version != nil:
		return l.version(of.Version)
	case of.Purged != nil:
		return l.addPurged(of.Purged)
	case of.Event != nil:
		return l.event(of.Event)
	case of.Commit != nil:
		return l.commit(of.Commit)
	case of.Row != nil:
		return l.row(of)
	default:
		return fmt.Errorf("%w: empty line of the portable backup", registry.ErrDamaged)
	}
}

// number checks that seq is the expected one.
func (l *loader) number(seq registry.Seq) error {
	if seq != l.next {
		return fmt.Errorf("%w: number %d follows number %d", registry.ErrDamaged, seq, l.next-1)
	}
	l.next++
	return nil
}

func (l *loader) addLeaf(leaf [digestSize]byte) { l.leaves = append(l.leaves, leaf[:]...) }

func (l *loader) version(d *dumpedVersion) error {
	if err := l.number(d.Seq); err != nil {
		return err
	}
	v := d.sealed()
	if digest := l.t.hash.content(&v.Entry, v.salt); !v.Redacted && !bytes.Equal(digest[:], v.digest) {
		return fmt.Errorf("%w: number %d, version %d of %s, differs from its digest", registry.ErrDamaged, v.Seq,
			v.Version, v.Key)
	}
	l.addLeaf(l.t.hash.leaf(&v.Entry, v.digest))
	if v.Redacted {
		l.redacted[v.Seq] = true
		v.salt = make([]byte, saltSize) // placeholder until the event of the redaction is read
	}
	if l.versions = append(l.versions, v); len(l.versions) >= loadPage {
		return l.flush()
	}
	return nil
}

// flush writes the versions that were read.
func (l *loader) flush() error {
	if len(l.versions) == 0 {
		return nil
	}
	keys := make([]registry.Key, len(l.versions))
	for i := range l.versions {
		keys[i] = l.versions[i].Key
	}
	before, err := l.t.Entries(keys)
	if err != nil {
		return err
	}
	n := newVersionsOf(len(keys))
	changes := make([]registry.Changed, len(keys))
	for i := range l.versions {
		changes[i] = registry.Changed{Before: before[i], After: l.versions[i].Entry}
		if j, ok := n.last[keys[i]]; ok {
			changes[i].Before = changes[j].After
		}
		if err := n.add(&changes[i], l.versions[i].salt, l.versions[i].digest); err != nil {
			return err
		}
	}
	l.versions = l.versions[:0]
	if err := l.t.insert(n); err != nil {
		return err
	}
	return l.t.count(changes, nil)
}

func (l *loader) addPurged(d *dumpedPurged) error {
	if err := l.number(d.Seq); err != nil {
		return err
	}
	leaf, err := hex.DecodeString(d.Leaf)
	if err != nil || len(leaf) != digestSize {
		return fmt.Errorf("%w: invalid digest of number %d", registry.ErrDamaged, d.Seq)
	}
	l.purged[d.Seq] = [digestSize]byte(leaf)
	l.addLeaf([digestSize]byte(leaf))
	return nil
}

// event writes an event, and applies it to the versions that it affected.
func (l *loader) event(d *dumpedEvent) error {
	if err := l.number(d.Seq); err != nil {
		return err
	}
	if err := l.flush(); err != nil {
		return err
	}
	e := d.event()
	// the order in which they are later read and hashed
	e.Affected = slices.Compact(slices.Sorted(slices.Values(e.Affected)))
	if err := l.t.insertEvent(&e); err != nil {
		return err
	}
	l.addLeaf(l.t.hash.event(&e))
	switch e.Kind {
	case registry.KindRedaction:
		return l.redact(&e)
	case registry.KindPurge:
		return l.purge(&e)
	default:
		return fmt.Errorf("%w: unknown event type %q", registry.ErrDamaged, e.Kind)
	}
}

func (l *loader) redact(e *registry.Event) error {
	of := make([]int64, 0, len(e.Affected))
	for _, seq := range e.Affected {
		if _, ok := l.purged[seq]; ok { // later: see purge
			l.redactions[seq] = e.Seq
			continue
		}
		if !l.redacted[seq] {
			return fmt.Errorf("%w: number %d redacts number %d, which is not redacted", registry.ErrDamaged, e.Seq, seq)
		}
		delete(l.redacted, seq)
		of = append(of, int64(seq))
	}
	if len(of) == 0 {
		return nil
	}
	return l.t.conn.Exec("UPDATE version SET salt = NULL, redacted = $1 WHERE seq IN ($2...)", int64(e.Seq), of)
}

func (l *loader) purge(e *registry.Event) error {
	for _, seq := range e.Affected {
		if _, ok := l.purged[seq]; !ok {
			return fmt.Errorf("%w: number %d purges number %d, which is not purged", registry.ErrDamaged, e.Seq, seq)
		}
	}
	return l.t.conn.Insert("version", []string{"seq", "digest", "purged", "redacted"}, "", len(e.Affected),
		func(i int, v Values) {
			seq := e.Affected[i]
			leaf := l.purged[seq]
			v.Int(int64(seq))
			v.Bytes(leaf[:])
			v.Int(int64(e.Seq))
			if by, ok := l.redactions[seq]; ok {
				v.Int(int64(by))
			} else {
				v.Null()
			}
			delete(l.purged, seq)
			delete(l.redactions, seq)
		})
}

// commit appends the commit of the versions and events that were read, and compares its digest.
func (l *loader) commit(d *dumpedCommit) error {
	if d.Last != l.next-1 || d.Last < l.first {
		return fmt.Errorf("%w: commit ends at number %d, but number %d was read", registry.ErrDamaged, d.Last, l.next-1)
	}
	set, err := l.t.ChangeSet(d.Set)
	if err != nil {
		return err
	}
	first := l.first
	digest, err := l.t.append(&set, first, d.Last, l.leaves)
	l.first, l.leaves = d.Last+1, l.leaves[:0]
	l.progress(d.Last, l.head.Head)
	if err == nil && !bytes.Equal(digest[:], d.Digest) {
		err = fmt.Errorf("%w: the numbers %d to %d, or their change set %d, or earlier ones, differ from their digest",
			registry.ErrDamaged, first, d.Last, d.Set)
	}
	return err
}

func (l *loader) row(of *dumpLine) error {
	if of.Table != l.table.name || len(l.rows) >= loadPage {
		err := l.flushRows()
		if err == nil {
			l.table, err = tableBy(of.Table)
		}
		if err != nil {
			return err
		}
	}
	row, err := l.table.parse(of.Row)
	l.rows = append(l.rows, row)
	return err
}

// flushRows writes the rows that were read.
func (l *loader) flushRows() error {
	err := l.table.insert(l.t.conn, l.rows)
	l.rows = l.rows[:0]
	return err
}

// end checks that the dump is complete.
func (l *loader) end(d *dumpEnd) error {
	switch {
	case d.Lines != l.line-1 || l.next-1 != l.head.Head:
		return fmt.Errorf("%w: portable backup has %d lines up to number %d instead of %d up to number %d",
			registry.ErrDamaged, l.line-1, l.next-1, d.Lines, l.head.Head)
	case len(l.purged)+len(l.redacted) > 0:
		return fmt.Errorf("%w: %d purged or redacted versions without an event", registry.ErrDamaged,
			len(l.purged)+len(l.redacted))
	}
	if _, err := l.read(); err == nil {
		return fmt.Errorf("%w: data after the end of the portable backup", registry.ErrDamaged)
	} else if !errors.Is(err, errCutOff) { // such as a checksum error of the decompressor
		return err
	}
	if l.first != l.next {
		return fmt.Errorf("%w: numbers from %d on without a commit", registry.ErrDamaged, l.first)
	}
	return errors.Join(l.flush(), l.flushRows())
}
