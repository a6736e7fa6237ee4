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

// fewEntries is up to how many one statement is faster than COPY.
const fewEntries = 100

// Append implements registry.WriteTx.
func (t *transaction) Append(rows []registry.Row) error {
	if len(rows) == 0 {
		return nil
	}
	for i := range rows {
		if err := isStorable(rows[i].Name); err != nil {
			return err
		}
	}
	if err := t.insertVersions(rows); err != nil {
		return err
	}
	last := rows[len(rows)-1]
	t.changed, t.head, t.rec = true, last.Seq, last.Octets
	added, moved := currentOf(rows)
	if len(added) <= fewEntries {
		added, moved = nil, append(moved, added...)
	}
	if err := t.copyNames(added); err != nil {
		return err
	}
	if err := t.moveNames(moved); err != nil {
		return err
	}
	return t.removeNames(rows)
}

// insertVersions inserts rows.
func (t *transaction) insertVersions(rows []registry.Row) error {
	if len(rows) > fewEntries {
		return t.copy("versions", []string{"seq", "prev", "kind", "name", "rec"}, len(rows), func(i int) []any {
			row := &rows[i]
			return []any{int64(row.Seq), int64(row.Prev), int16(row.Kind), row.Name, row.Octets}
		})
	}
	c, prevs, recs := columnsOf(rows)
	return t.exec(`INSERT INTO versions (seq, prev, kind, name, rec)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::text[], $5::bytea[])`,
		c.seqs, prevs, c.kinds, c.names, recs)
}

// columnsOf returns the columns of rows.
func columnsOf(rows []registry.Row) (c arrays, prevs []int64, recs [][]byte) {
	for i := range rows {
		c.add(&rows[i])
		prevs, recs = append(prevs, int64(rows[i].Prev)), append(recs, rows[i].Octets)
	}
	return c, prevs, recs
}

// Rewrite implements registry.WriteTx.
func (t *transaction) Rewrite(rows []registry.Row) error {
	if len(rows) == 0 {
		return nil
	}
	c, prevs, recs := columnsOf(rows)
	return t.exec(`UPDATE versions v SET prev = u.prev, kind = u.kind, name = u.name, rec = u.rec
		FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::text[], $5::bytea[]) AS u (seq, prev, kind, name, rec)
		WHERE v.seq = u.seq`, c.seqs, prevs, c.kinds, c.names, recs)
}

// removeNames removes the names of keys that have no current version any more.
func (t *transaction) removeNames(rows []registry.Row) error {
	var c arrays
	for i := range rows {
		if key, ok := rows[i].Ends(); ok {
			c.add(&registry.Row{Key: key})
		}
	}
	if len(c.names) == 0 {
		return nil
	}
	return t.exec(`DELETE FROM names n USING unnest($1::smallint[], $2::text[]) AS k (kind, name)
		WHERE n.kind = k.kind AND n.name = k.name COLLATE "C"`, c.kinds, c.names)
}

// currentOf returns those of rows that become current, in the order of the index: those of new keys and
// others.
func currentOf(rows []registry.Row) (added, moved []*registry.Row) {
	sorted := make([]*registry.Row, 0, len(rows))
	for i := range rows {
		if rows[i].IsVersion() {
			sorted = append(sorted, &rows[i])
		}
	}
	slices.SortStableFunc(sorted, func(a, b *registry.Row) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	for i := 0; i < len(sorted); {
		first := sorted[i]
		for i++; i < len(sorted) && sorted[i].Key == first.Key; i++ {
		}
		if first.Prev == 0 {
			added = append(added, sorted[i-1])
		} else {
			moved = append(moved, sorted[i-1])
		}
	}
	return added, moved
}

// copyNames inserts the names of entries that there were none of.
func (t *transaction) copyNames(entries []*registry.Row) error {
	if len(entries) == 0 {
		return nil
	}
	return t.copy("names", []string{"seq", "kind", "name"}, len(entries), func(i int) []any {
		return []any{int64(entries[i].Seq), int16(entries[i].Kind), entries[i].Name}
	})
}

// moveNames makes entries the current ones of their names.
func (t *transaction) moveNames(entries []*registry.Row) error {
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

func (c *arrays) add(e *registry.Row) {
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
