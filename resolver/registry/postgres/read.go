package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/urnd/urnd/resolver/registry"
)

// transaction implements registry.WriteTx while a transaction runs.
type transaction struct {
	ctx     context.Context //nolint:containedctx // it lives as long as one call
	tx      pgx.Tx
	timeout time.Duration // for one question
	see     func(registry.Seq)

	changed bool         // whether versions were written
	wrote   bool         // whether anything was
	head    registry.Seq // the last Seq, of a transaction that has changed something
	rec     []byte       // the record of that version; nil for none
}

// Entries have their columns in this order.
const columns = "v.seq, v.prev, v.kind, v.name, v.rec"

// entryOf returns the entry of a row with columns.
func entryOf(rows pgx.Rows) (e registry.Entry, err error) {
	var seq, prev int64
	var kind int16
	var rec pgtype.DriverBytes
	if err := rows.Scan(&seq, &prev, &kind, &e.Name, &rec); err != nil {
		return e, err
	}
	e.Seq, e.Prev, e.Kind = registry.Seq(seq), registry.Seq(prev), registry.Kind(kind) //nolint:gosec // 0 or 1
	err = registry.Decode(&e, rec)
	return e, err
}

// query calls row for each row of a question.
func (t *transaction) query(question string, args []any, row func(rows pgx.Rows) error) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.timeout)
	defer cancel()
	rows, _ := t.tx.Query(ctx, question, args...) // rows have the error
	return kindOf(each(rows, func() error { return row(rows) }))
}

// entries returns the entries of a question.
func (t *transaction) entries(question string, args ...any) (entries []registry.Entry, err error) {
	err = t.query(question, args, func(rows pgx.Rows) error {
		e, err := entryOf(rows)
		entries = append(entries, e)
		return err
	})
	return entries, err
}

// Entries implements registry.Tx.
func (t *transaction) Entries(keys []registry.Key) ([]registry.Entry, error) {
	byKind := make(map[registry.Kind][]string, 2)
	places := make(map[registry.Key][]int, len(keys))
	for i, key := range keys {
		if !mayExist(key.Name) {
			continue // it is not there
		}
		if places[key] == nil {
			byKind[key.Kind] = append(byKind[key.Kind], key.Name)
		}
		places[key] = append(places[key], i)
	}
	entries := make([]registry.Entry, len(keys))
	for kind, names := range byKind {
		if is, err := t.anyOf(kind, names); err != nil {
			return nil, err
		} else if !is {
			continue
		}
		found, err := t.entries("SELECT "+columns+` FROM names n JOIN versions v ON v.seq = n.seq
			WHERE n.kind = $1 AND n.name = ANY($2)`, int16(kind), names)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			for _, i := range places[e.Key] {
				entries[i] = e
			}
		}
	}
	return entries, nil
}

// anyOf reports whether some of many names may be there, by one question on what lies between them: where names
// are imported in their order, nothing does.
func (t *transaction) anyOf(kind registry.Kind, names []string) (is bool, err error) {
	if len(names) <= fewEntries {
		return true, nil
	}
	err = t.query("SELECT FROM names WHERE kind = $1 AND name >= $2 AND name <= $3 LIMIT 1",
		[]any{int16(kind), slices.Min(names), slices.Max(names)}, func(pgx.Rows) error {
			is = true
			return nil
		})
	return is, err
}

// Floor implements registry.Tx.
func (t *transaction) Floor(text string) (registry.Entry, error) {
	if err := isValid(text); err != nil {
		return registry.Entry{}, err
	}
	return first(t.entries(floorQuestion, text))
}

func first(entries []registry.Entry, err error) (registry.Entry, error) {
	if err != nil || len(entries) == 0 {
		return registry.Entry{}, err
	}
	return entries[0], nil
}

// ascending returns the page of a question, unless it failed, or the index that it was read by is damaged.
func ascending[T any, K cmp.Ordered](page []T, err error, least K, key func(*T) K) ([]T, error) {
	if err == nil {
		err = registry.Ascending(page, least, key)
	}
	if err != nil {
		return nil, err
	}
	return page, nil
}

// above returns the least text that is after all that begin with prefix.
func above(prefix string) string { return prefix + "\U0010ffff" }

// List implements registry.Tx.
func (t *transaction) List(kind registry.Kind, prefix, after string, limit int) ([]registry.Entry, error) {
	if err := isValid(prefix, after); err != nil {
		return nil, err
	}
	entries, err := t.entries("SELECT "+columns+` FROM names n JOIN versions v ON v.seq = n.seq
		WHERE n.kind = $1 AND n.name >= $2 AND n.name > $3 AND n.name < $4 ORDER BY n.name LIMIT $5`,
		int16(kind), prefix, after, above(prefix), limit)
	return ascending(entries, err, max(prefix, after), func(e *registry.Entry) string { return e.Name })
}

// versionsOf is the versions of some current ones, which a question selects, and those before them. It ends also
// where prev is damaged.
func versionsOf(current string) string {
	return "WITH RECURSIVE chain AS (" + current + ` UNION ALL
		SELECT ` + columns + " FROM chain c JOIN versions v ON v.seq = c.prev AND v.seq < c.seq) "
}

// Versions implements registry.Tx.
func (t *transaction) Versions(key registry.Key, before registry.Seq, limit int) ([]registry.Entry, error) {
	if !mayExist(key.Name) {
		return nil, nil
	}
	return t.entries(versionsOf(lookupQuestion)+
		"SELECT "+columns+" FROM chain v WHERE $3 = 0 OR v.seq < $3 ORDER BY v.seq DESC LIMIT $4",
		int16(key.Kind), key.Name, int64(before), limit)
}

// Changes implements registry.Tx.
func (t *transaction) Changes(after registry.Seq, limit int) (changes []registry.Change, err error) {
	err = t.query("SELECT seq, kind, name FROM versions WHERE seq > $1 AND name <> '' ORDER BY seq LIMIT $2",
		[]any{int64(after), limit}, func(rows pgx.Rows) error {
			var seq int64
			var kind int16
			var name string
			err := rows.Scan(&seq, &kind, &name)
			key := registry.Key{Kind: registry.Kind(kind), Name: name} //nolint:gosec // 0 or 1
			changes = append(changes, registry.Change{Seq: registry.Seq(seq), Key: key})
			return err
		})
	if err == nil && len(changes) > 0 {
		t.see(changes[len(changes)-1].Seq)
	}
	return ascending(changes, err, after+1, func(change *registry.Change) registry.Seq { return change.Seq })
}

// Rows implements registry.Tx.
func (t *transaction) Rows(after registry.Seq, limit int) (all []registry.Row, err error) {
	err = t.query("SELECT "+columns+" FROM versions v WHERE v.seq > $1 ORDER BY v.seq LIMIT $2", []any{int64(after), limit}, func(rows pgx.Rows) error {
		var seq, prev int64
		var kind int16
		var row registry.Row
		err := rows.Scan(&seq, &prev, &kind, &row.Name, &row.Octets)
		row.Seq, row.Prev, row.Kind = registry.Seq(seq), registry.Seq(prev), registry.Kind(kind) //nolint:gosec // 0 or 1
		all = append(all, row)
		return err
	})
	return ascending(all, err, after+1, func(row *registry.Row) registry.Seq { return row.Seq })
}

// Current implements registry.Tx.
func (t *transaction) Current(kind registry.Kind, after string, limit int) (keys []registry.Change, err error) {
	if err := isValid(after); err != nil {
		return nil, err
	}
	err = t.query("SELECT name, seq FROM names WHERE kind = $1 AND name > $2 ORDER BY name LIMIT $3", []any{int16(kind), after, limit},
		func(rows pgx.Rows) error {
			var seq int64
			c := registry.Change{Key: registry.Key{Kind: kind}}
			err := rows.Scan(&c.Key.Name, &seq)
			c.Seq = registry.Seq(seq)
			keys = append(keys, c)
			return err
		})
	return ascending(keys, err, after, func(change *registry.Change) string { return change.Key.Name })
}

// Keys implements registry.Tx.
func (t *transaction) Keys(seqs []registry.Seq) ([]registry.Key, error) {
	keys, places, numbers := make([]registry.Key, len(seqs)), make(map[int64]int, len(seqs)), make([]int64, len(seqs))
	for i, seq := range seqs {
		places[int64(seq)], numbers[i] = i, int64(seq)
	}
	err := t.query("SELECT seq, kind, name FROM versions WHERE seq = ANY($1)", []any{numbers}, func(rows pgx.Rows) error {
		var seq int64
		var kind int16
		var name string
		err := rows.Scan(&seq, &kind, &name)
		keys[places[seq]] = registry.Key{Kind: registry.Kind(kind), Name: name} //nolint:gosec // 0 or 1
		return err
	})
	return keys, err
}

// Documents implements registry.Tx.
func (t *transaction) Documents(table registry.Table, prefix, after string, limit int) (documents []registry.Document, err error) {
	if err := isValid(prefix, after); err != nil {
		return nil, err
	}
	err = t.query("SELECT key, value FROM documents WHERE tab = $1 AND key >= $2 AND key > $3 AND key < $4 ORDER BY key LIMIT $5",
		[]any{int16(table), prefix, after, above(prefix), limit}, func(rows pgx.Rows) error {
			var d registry.Document
			err := rows.Scan(&d.Key, &d.Value)
			documents = append(documents, d)
			return err
		})
	return ascending(documents, err, max(prefix, after), func(d *registry.Document) string { return d.Key })
}

// Document implements registry.Tx.
func (t *transaction) Document(table registry.Table, key string) (value []byte, err error) {
	if !mayExist(key) {
		return nil, nil
	}
	err = t.query("SELECT value FROM documents WHERE tab = $1 AND key = $2", []any{int16(table), key}, func(rows pgx.Rows) error {
		return rows.Scan(&value)
	})
	return value, err
}
