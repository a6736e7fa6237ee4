package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
)

// rowsAtOnce is how many rows a statement writes, of those that write many.
const rowsAtOnce = 32

// checkKey returns ErrInvalid for keys that no store takes.
func checkKey(key string) error {
	if strings.IndexByte(key, 0) >= 0 || !utf8.ValidString(key) {
		return fmt.Errorf("%w: the key %q is not UTF-8 text without NUL", registry.ErrInvalid, key)
	}
	return nil
}

// Append implements registry.WriteTx.
func (c *conn) Append(rows []registry.Row) error {
	for i := range rows {
		if err := checkKey(rows[i].Name); err != nil {
			return err
		}
	}
	err := c.insert("INSERT INTO versions (seq, prev, kind, name, "+
		"rec) VALUES ", "(?,?,?,?,?)", "", len(rows), func(s *sqlite3.Stmt, i, first int) error {
		row := &rows[i]
		if err := bindKey(s, first+2, row.Key); err != nil {
			return err
		}
		if err := s.BindInt64(first, int64(row.Seq)); err != nil {
			return err
		}
		if err := s.BindInt64(first+1, int64(row.Prev)); err != nil {
			return err
		}
		if row.Octets == nil {
			return s.BindNull(first + 4)
		}
		return s.BindBlob(first+4, row.Octets)
	})
	if err != nil {
		return err
	}
	return c.point(rows)
}

// point makes versions the current ones of their keys. Those of keys that are new are inserted without a look
// at what is there, and fail if there is something. What ends a key comes after its versions.
func (c *conn) point(rows []registry.Row) error {
	first, further := make([]*registry.Row, 0, len(rows)), []*registry.Row(nil)
	for i := range rows {
		switch row := &rows[i]; {
		case !row.IsVersion():
		case row.Prev == 0:
			first = append(first, row)
		default:
			further = append(further, row)
		}
	}
	if err := c.pointTo(first, ""); err != nil {
		return err
	}
	if err := c.pointTo(further, " ON CONFLICT DO UPDATE SET seq = excluded.seq"); err != nil {
		return err
	}
	return c.end(rows)
}

// end removes the keys that have no current version any more.
func (c *conn) end(rows []registry.Row) error {
	for i := range rows {
		key, ok := rows[i].Ends()
		if !ok {
			continue
		}
		if err := c.exec("DELETE FROM names WHERE kind = ? AND name = ?", int64(key.Kind), key.Name); err != nil {
			return err
		}
	}
	return nil
}

// Rewrite implements registry.WriteTx.
func (c *conn) Rewrite(rows []registry.Row) error {
	c.removed = c.removed || len(rows) > 0
	for i := range rows {
		row := &rows[i]
		if err := c.exec("UPDATE versions SET prev = ?, kind = ?, name = ?, rec = ? WHERE seq = ?",
			int64(row.Prev), int64(row.Kind), row.Name, row.Octets, int64(row.Seq)); err != nil {
			return err
		}
	}
	return nil
}

// pointTo inserts names in their order, in which neighbours are in the same page.
func (c *conn) pointTo(entries []*registry.Row, end string) error {
	inOrder := func(a, b *registry.Row) int { return compareKeys(a.Key, b.Key) }
	if !slices.IsSortedFunc(entries, inOrder) {
		slices.SortStableFunc(entries, inOrder)
	}
	return c.insert("INSERT INTO names (kind, name, seq) VALUES ", "(?,?,?)", end, len(entries), func(s *sqlite3.Stmt, i, first int) error {
		if err := bindKey(s, first, entries[i].Key); err != nil {
			return err
		}
		return s.BindInt64(first+2, int64(entries[i].Seq))
	})
}

func bindKey(s *sqlite3.Stmt, first int, key registry.Key) error {
	if err := s.BindInt64(first, int64(key.Kind)); err != nil {
		return err
	}
	return s.BindText(first+1, key.Name)
}

// insert inserts n rows by statements that begin and end so, and have row for each. bind binds the
// parameters of row i, of which the number of the first is given.
func (c *conn) insert(begin, row, end string, n int, bind func(s *sqlite3.Stmt, i, first int) error) error {
	parameters := strings.Count(row, "?")
	for i := 0; i < n; {
		rows := 1
		if n-i >= rowsAtOnce {
			rows = rowsAtOnce
		}
		s, err := c.statement(begin + strings.Repeat(row+",", rows-1) + row + end)
		if err != nil {
			return err
		}
		for j := range rows {
			if err := bind(s, i+j, 1+j*parameters); err != nil {
				return c.fault(err)
			}
		}
		if err := s.Exec(); err != nil {
			return c.fault(err)
		}
		i += rows
	}
	return nil
}

// Put implements registry.WriteTx.
func (c *conn) Put(table registry.Table, documents []registry.Document) error {
	for _, d := range documents {
		err := checkKey(d.Key)
		switch {
		case err != nil:
		case d.Value == nil:
			err = c.exec("DELETE FROM documents WHERE tab = ? AND key = ?", int64(table), d.Key)
		default:
			err = c.exec("INSERT INTO documents (tab, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
				int64(table), d.Key, d.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
