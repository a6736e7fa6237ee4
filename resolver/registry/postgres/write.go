package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/urnd/urnd/resolver/registry"
)

// exec runs a statement without rows.
func (t *transaction) exec(statement string, args ...any) error {
	t.wrote = true
	return t.bounded(func(ctx context.Context) error {
		_, err := t.tx.Exec(ctx, statement, args...)
		return err
	})
}

func (t *transaction) bounded(statement func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.timeout)
	defer cancel()
	return kindOf(statement(ctx))
}

// readHead sets head, which only this transaction changes.
func (t *transaction) readHead() error {
	if t.changed {
		return nil
	}
	t.changed = true
	return t.query(headQuestion, nil, func(rows pgx.Rows) error { return rows.Scan(&t.head) })
}

// fewEntries is up to how many one statement is faster than COPY.
const fewEntries = 100

// Append implements registry.WriteTx.
func (t *transaction) Append(entries []registry.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	for i := range entries {
		if err := isStorable(entries[i].Name); err != nil {
			return err
		}
	}
	if err := t.readHead(); err != nil {
		return err
	}
	registry.Number(entries, t.head)
	last := entries[len(entries)-1]
	t.head, t.rec = last.Seq, registry.Encode(last)
	if err := t.insertVersions(entries); err != nil {
		return err
	}
	added, moved := currentOf(entries)
	if len(added) <= fewEntries {
		added, moved = nil, append(moved, added...)
	}
	if err := t.copyNames(added); err != nil {
		return err
	}
	return t.moveNames(moved)
}

// insertVersions inserts versions.
func (t *transaction) insertVersions(entries []registry.Entry) error {
	if len(entries) > fewEntries {
		return t.copy("versions", []string{"seq", "prev", "kind", "name", "rec"}, len(entries), func(i int) []any {
			e := &entries[i]
			return []any{int64(e.Seq), int64(e.Prev), int16(e.Kind), e.Name, registry.Encode(*e)}
		})
	}
	var c arrays
	prevs, recs := make([]int64, len(entries)), make([][]byte, len(entries))
	for i := range entries {
		c.add(&entries[i])
		prevs[i], recs[i] = int64(entries[i].Prev), registry.Encode(entries[i])
	}
	return t.exec(`INSERT INTO versions (seq, prev, kind, name, rec)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::text[], $5::bytea[])`,
		c.seqs, prevs, c.kinds, c.names, recs)
}

// currentOf returns those of entries that become current, in the order of the index: those of new keys and
// others.
func currentOf(entries []registry.Entry) (added, moved []*registry.Entry) {
	sorted := make([]*registry.Entry, len(entries))
	for i := range entries {
		sorted[i] = &entries[i]
	}
	slices.SortStableFunc(sorted, func(a, b *registry.Entry) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	for i := 0; i < len(sorted); {
		first := sorted[i]
		for i++; i < len(sorted) && sorted[i].Key == first.Key; i++ {
		}
		if first.Version == 1 {
			added = append(added, sorted[i-1])
		} else {
			moved = append(moved, sorted[i-1])
		}
	}
	return added, moved
}

// copyNames inserts the names of entries that there were none of.
func (t *transaction) copyNames(entries []*registry.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return t.copy("names", []string{"seq", "kind", "name"}, len(entries), func(i int) []any {
		return []any{int64(entries[i].Seq), int16(entries[i].Kind), entries[i].Name}
	})
}

// moveNames makes entries the current ones of their names.
func (t *transaction) moveNames(entries []*registry.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var c arrays
	for _, e := range entries {
		c.add(e)
	}
	return t.exec(`INSERT INTO names (seq, kind, name) SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::text[])
		ON CONFLICT (kind, name) DO UPDATE SET seq = excluded.seq`, c.seqs, c.kinds, c.names)
}

// arrays are the columns of entries.
type arrays struct {
	seqs  []int64
	kinds []int16
	names []string
}

func (c *arrays) add(e *registry.Entry) {
	c.seqs, c.kinds, c.names = append(c.seqs, int64(e.Seq)), append(c.kinds, int16(e.Kind)), append(c.names, e.Name)
}

// copy inserts n rows by COPY.
func (t *transaction) copy(table string, columns []string, n int, row func(i int) []any) error {
	t.wrote = true
	return t.bounded(func(ctx context.Context) error {
		_, err := t.tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(n, func(i int) ([]any, error) { return row(i), nil }))
		return err
	})
}

// Purge implements registry.WriteTx.
func (t *transaction) Purge(keys []registry.Key) error {
	if err := t.readHead(); err != nil {
		return err
	}
	var c arrays
	for _, key := range keys {
		if err := isStorable(key.Name); err != nil {
			return err
		}
		t.head++
		t.rec = nil
		c.seqs, c.kinds, c.names = append(c.seqs, int64(t.head)), append(c.kinds, int16(key.Kind)), append(c.names, key.Name)
	}
	current := "SELECT " + columns + ` FROM unnest($1::smallint[], $2::text[]) AS k (kind, name)
		JOIN names n ON n.kind = k.kind AND n.name = k.name COLLATE "C" JOIN versions v ON v.seq = n.seq`
	if err := t.exec(versionsOf(current)+"DELETE FROM versions WHERE seq IN (SELECT seq FROM chain)", c.kinds, c.names); err != nil {
		return err
	}
	if err := t.exec(`DELETE FROM names n USING unnest($1::smallint[], $2::text[]) AS k (kind, name)
		WHERE n.kind = k.kind AND n.name = k.name COLLATE "C"`, c.kinds, c.names); err != nil {
		return err
	}
	return t.exec(`INSERT INTO versions (seq, prev, kind, name)
		SELECT u.seq, 0, u.kind, u.name FROM unnest($1::bigint[], $2::smallint[], $3::text[]) AS u (seq, kind, name)`, c.seqs, c.kinds, c.names)
}

// Put implements registry.WriteTx.
func (t *transaction) Put(table registry.Table, documents []registry.Document) error {
	values := make(map[string][]byte, len(documents)) // the last one of each key
	for _, d := range documents {
		if err := isStorable(d.Key); err != nil {
			return err
		}
		values[d.Key] = d.Value
	}
	var removed, keys []string
	var kept [][]byte
	for key, value := range values {
		if value == nil {
			removed = append(removed, key)
			continue
		}
		keys, kept = append(keys, key), append(kept, value)
	}
	if len(removed) > 0 {
		if err := t.exec("DELETE FROM documents WHERE tab = $1 AND key = ANY($2)", int16(table), removed); err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return t.exec(`INSERT INTO documents (tab, key, value) SELECT $1, * FROM unnest($2::text[], $3::bytea[])
		ON CONFLICT (tab, key) DO UPDATE SET value = excluded.value`, int16(table), keys, kept)
}

// channel is that of NOTIFY.
const channel = "urnd_registry"

// identity is what a transaction is known by after its connection was lost.
type identity struct {
	transaction string // its id
	timeline    string // the history of the server that gave it: another one after a failover
	started     string // when that server started
	// head is the number of the last version that it made, and rec its octets; nil where it made none with a record.
	head registry.Seq
	rec  []byte
}

const timelineOf = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"

// startOf is when the server has started.
const startOf = "pg_postmaster_start_time()::text"

// seal tells the other instances of changes, once they are committed, and returns the identity of the transaction.
func (t *transaction) seal() (id identity, err error) {
	question := "SELECT pg_current_xact_id()::text, " + timelineOf + ", " + startOf
	if t.changed {
		question += ", pg_notify('" + channel + "', '')::text"
	}
	err = t.query(question, nil, func(rows pgx.Rows) error {
		values := rows.RawValues()
		id.transaction, id.timeline, id.started = string(values[0]), string(values[1]), string(values[2])
		return nil
	})
	id.head, id.rec = t.head, t.rec
	return id, err
}
