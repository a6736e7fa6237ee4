package sqlite

import (
	"cmp"
	"fmt"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
)

// Entries have their columns in this order.
const columns = "v.seq, v.prev, v.kind, v.name, v.rec"

// entryOf returns the entry of a row with columns.
func entryOf(s *sqlite3.Stmt) (registry.Entry, error) {
	e := registry.Entry{Seq: registry.Seq(s.ColumnInt64(0)), Prev: registry.Seq(s.ColumnInt64(1))}
	e.Key = registry.Key{Kind: registry.Kind(s.ColumnInt(2)), Name: s.ColumnText(3)} //nolint:gosec // 0 or 1
	err := registry.Decode(&e, s.ColumnRawBlob(4))
	return e, err
}

// one returns the entry of a question that has at most one.
func (c *conn) one(text string, args ...any) (e registry.Entry, err error) {
	err = c.query(text, func(s *sqlite3.Stmt) (err error) {
		e, err = entryOf(s)
		return err
	}, args...)
	return e, err
}

// many returns the entries of a question.
func (c *conn) many(text string, args ...any) (entries []registry.Entry, err error) {
	err = c.query(text, func(s *sqlite3.Stmt) error {
		e, err := entryOf(s)
		entries = append(entries, e)
		return err
	}, args...)
	return entries, err
}

// ascending returns the page of a question, unless it failed, or the index that it was read by is damaged.
func ascending[T any, K cmp.Ordered](c *conn, page []T, err error, least K, key func(*T) K) ([]T, error) {
	if err != nil {
		return nil, err
	}
	if err := registry.Ascending(page, least, key); err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	return page, nil
}

// Floor implements registry.Tx.
func (c *conn) Floor(text string) (registry.Entry, error) {
	return c.one("SELECT "+columns+" FROM names n JOIN versions v ON v.seq = n.seq WHERE n.kind = 1 AND n.name <= ? ORDER BY "+
		"n.name DESC LIMIT 1", text)
}

// above returns the least text that is after all that begin with prefix; "" begins nothing but itself,
// so that there is none.
func above(prefix string) string { return prefix + "\U0010ffff" }

// from returns the least text, of those without NUL, that is after the text after and not before prefix. SQLite
// uses one lower bound of an index, and would read all texts from the other one on.
func from(prefix, after string) string {
	if after == "" || after < prefix {
		return prefix
	}
	return after + "\x00"
}

// List implements registry.Tx.
func (c *conn) List(kind registry.Kind, prefix, after string, limit int) ([]registry.Entry, error) {
	entries, err := c.many("SELECT "+columns+` FROM names n JOIN versions v ON v.seq = n.seq
		WHERE n.kind = ? AND n.name >= ? AND n.name < ? ORDER BY n.name LIMIT ?`,
		int64(kind), from(prefix, after), above(prefix), int64(limit))
	return ascending(c, entries, err, from(prefix, after), func(e *registry.Entry) string { return e.Name })
}

// Versions implements registry.Tx.
func (c *conn) Versions(key registry.Key, before registry.Seq, limit int) ([]registry.Entry, error) {
	e, err := c.newestBefore(key, before)
	var versions []registry.Entry
	for err == nil && e.Exists() && len(versions) < limit {
		versions = append(versions, e)
		e, err = c.before(e)
	}
	return versions, err
}

// newestBefore returns the newest version of a key with a Seq below before; 0 is the current one.
func (c *conn) newestBefore(key registry.Key, before registry.Seq) (registry.Entry, error) {
	if before != 0 { // mostly the last one of a page: the next one is known
		if e, err := c.version(before); err != nil || e.Key == key && e.Exists() {
			if err == nil {
				e, err = c.before(e)
			}
			return e, err
		}
	}
	e, err := c.lookup(key)
	for err == nil && before != 0 && e.Seq >= before {
		e, err = c.before(e)
	}
	return e, err
}

// version returns the version that a row is, the zero value where it is none.
func (c *conn) version(seq registry.Seq) (e registry.Entry, err error) {
	err = c.query("SELECT "+columns+" FROM versions v WHERE v.seq = ?", func(s *sqlite3.Stmt) (err error) {
		if row := (registry.Row{Octets: s.ColumnRawBlob(4)}); row.IsVersion() {
			e, err = entryOf(s)
		}
		return err
	}, int64(seq))
	return e, err
}

// before returns the version before one, the zero value if there is none.
func (c *conn) before(e registry.Entry) (registry.Entry, error) {
	if e.Prev == 0 {
		return registry.Entry{}, nil
	}
	prev, err := c.version(e.Prev)
	if err == nil && prev.Exists() && !e.Follows(&prev) {
		err = faultOf(c.path, fmt.Errorf("%w: the version %d of %s follows %d of %s", registry.ErrDamaged, e.Seq, e.Key, prev.Seq, prev.Key))
	}
	return prev, err
}

// Changes implements registry.Tx.
func (c *conn) Changes(after registry.Seq, limit int) (changes []registry.Change, err error) {
	err = c.query("SELECT seq, kind, name FROM versions WHERE seq > ? AND name <> '' ORDER BY seq LIMIT ?", func(s *sqlite3.Stmt) error {
		key := registry.Key{Kind: registry.Kind(s.ColumnInt(1)), Name: s.ColumnText(2)} //nolint:gosec // 0 or 1
		changes = append(changes, registry.Change{Seq: registry.Seq(s.ColumnInt64(0)), Key: key})
		return nil
	}, int64(after), int64(limit))
	return ascending(c, changes, err, after+1, func(change *registry.Change) registry.Seq { return change.Seq })
}

// Rows implements registry.Tx.
func (c *conn) Rows(after registry.Seq, limit int) (rows []registry.Row, err error) {
	err = c.query("SELECT "+columns+" FROM versions v WHERE v.seq > ? ORDER BY v.seq LIMIT ?", func(s *sqlite3.Stmt) error {
		rows = append(rows, registry.Row{
			Seq: registry.Seq(s.ColumnInt64(0)), Prev: registry.Seq(s.ColumnInt64(1)),
			Key:    registry.Key{Kind: registry.Kind(s.ColumnInt(2)), Name: s.ColumnText(3)}, //nolint:gosec // 0 or 1
			Octets: s.ColumnBlob(4, nil),
		})
		return nil
	}, int64(after), int64(limit))
	return ascending(c, rows, err, after+1, func(row *registry.Row) registry.Seq { return row.Seq })
}

// Current implements registry.Tx.
func (c *conn) Current(kind registry.Kind, after string, limit int) (keys []registry.Change, err error) {
	err = c.query("SELECT name, seq FROM names WHERE kind = ? AND name > ? ORDER BY name LIMIT ?", func(s *sqlite3.Stmt) error {
		keys = append(keys, registry.Change{Seq: registry.Seq(s.ColumnInt64(1)), Key: registry.Key{Kind: kind, Name: s.ColumnText(0)}})
		return nil
	}, int64(kind), after, int64(limit))
	return ascending(c, keys, err, from("", after), func(change *registry.Change) string { return change.Key.Name })
}

// Keys implements registry.Tx.
func (c *conn) Keys(seqs []registry.Seq) ([]registry.Key, error) {
	keys := make([]registry.Key, len(seqs))
	s, err := c.statement("SELECT kind, name FROM versions WHERE seq = ?")
	if err != nil {
		return nil, err
	}
	for i, seq := range seqs {
		if err := s.BindInt64(1, int64(seq)); err != nil {
			return nil, c.fault(err)
		}
		if s.Step() {
			keys[i] = registry.Key{Kind: registry.Kind(s.ColumnInt(0)), Name: s.ColumnText(1)} //nolint:gosec // 0 or 1
		}
		if err := c.finish(s); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// Documents implements registry.Tx.
func (c *conn) Documents(table registry.Table, prefix, after string, limit int) (documents []registry.Document, err error) {
	err = c.query("SELECT key, value FROM documents WHERE tab = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?", func(s *sqlite3.Stmt) error {
		documents = append(documents, registry.Document{Key: s.ColumnText(0), Value: s.ColumnBlob(1, []byte{})})
		return nil
	}, int64(table), from(prefix, after), above(prefix), int64(limit))
	return ascending(c, documents, err, from(prefix, after), func(d *registry.Document) string { return d.Key })
}

// Document implements registry.Tx.
func (c *conn) Document(table registry.Table, key string) (value []byte, err error) {
	err = c.query("SELECT value FROM documents WHERE tab = ? AND key = ?", func(s *sqlite3.Stmt) error {
		value = s.ColumnBlob(0, []byte{})
		return nil
	}, int64(table), key)
	return value, err
}
