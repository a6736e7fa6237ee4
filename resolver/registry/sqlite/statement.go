package sqlite

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/store"
)

// statement returns a prepared statement. The caller must reset it.
func (c *conn) statement(text string) (*sqlite3.Stmt, error) {
	if c.rolledBack {
		return nil, errRolledBack
	}
	if s := c.statements[text]; s != nil {
		return s, nil
	}
	s, _, err := c.db.PrepareFlags(store.SQLite().Statement(text), sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, c.wrapError(err)
	}
	c.statements[text] = s
	return s, nil
}

// row implements store.Row.
type row struct{ s *sqlite3.Stmt }

func (r row) Null(column int) bool    { return r.s.ColumnType(column) == sqlite3.NULL }
func (r row) Int(column int) int64    { return r.s.ColumnInt64(column) }
func (r row) Bytes(column int) []byte { return r.s.ColumnRawBlob(column) }

func (r row) Text(column int) string {
	if r.Null(column) { // the most frequent case: one call into SQLite instead of two
		return ""
	}
	return r.s.ColumnText(column)
}

// Query implements store.Conn.
func (c *conn) Query(text string, next func(store.Row) error, args ...any) error {
	s, err := c.statement(text)
	if err != nil {
		return err
	}
	if err := bind(s, args); err != nil {
		return c.wrapError(err)
	}
	for s.Step() {
		if err := next(row{s}); err != nil {
			_ = s.Reset()
			return c.wrapError(err)
		}
	}
	return c.finish(s)
}

// finish resets a statement, and returns its error.
func (c *conn) finish(s *sqlite3.Stmt) error {
	err := s.Err()
	if reset := s.Reset(); err == nil {
		err = reset
	}
	return c.wrapError(err)
}

// Exec implements store.Conn.
func (c *conn) Exec(text string, args ...any) error {
	return c.Query(text, func(store.Row) error { return nil }, args...)
}

// bind binds the parameters of a statement, lists as JSON.
func bind(s *sqlite3.Stmt, args []any) error {
	for i, arg := range args {
		var err error
		switch v := arg.(type) {
		case int64:
			err = s.BindInt64(i+1, v)
		case string:
			err = s.BindText(i+1, v)
		case *string:
			err = s.BindText(i+1, *v)
		case []byte:
			err = s.BindBlob(i+1, v)
		case []int64, []string:
			var list []byte
			if list, err = json.Marshal(v); err == nil {
				err = s.BindText(i+1, string(list))
			}
		case nil:
			err = s.BindNull(i + 1)
		default:
			err = fmt.Errorf("an argument of type %T", arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsAtOnce are the numbers of rows that the statements of a bulk insert have.
var rowsAtOnce = [...]int{100, 10, 1}

// values implements store.Values: it binds the parameters of a statement from left to right.
type values struct {
	s    *sqlite3.Stmt
	next int
	err  error
}

func (v *values) bound(err error) {
	v.next++
	if v.err == nil {
		v.err = err
	}
}

func (v *values) Int(n int64)    { v.bound(v.s.BindInt64(v.next, n)) }
func (v *values) Text(s string)  { v.bound(v.s.BindText(v.next, s)) }
func (v *values) Bytes(b []byte) { v.bound(v.s.BindBlob(v.next, b)) }
func (v *values) Null()          { v.bound(v.s.BindNull(v.next)) }

// Insert implements store.Conn.
func (c *conn) Insert(table string, columns []string, conflict string, n int, value func(i int, v store.Values)) error {
	insert := "INSERT"
	if conflict == "" {
		insert = "INSERT OR ROLLBACK" // saves SQLite the statement journal
	}
	one := "(" + strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",") + ")"
	for i := 0; i < n; {
		rows := 1
		for _, many := range rowsAtOnce {
			if n-i >= many {
				rows = many
				break
			}
		}
		s, err := c.statement(insert + " INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " +
			strings.TrimSuffix(strings.Repeat(one+",", rows), ",") + conflict)
		if err != nil {
			return err
		}
		v := values{s: s, next: 1}
		for j := range rows {
			value(i+j, &v)
		}
		if v.err == nil {
			v.err = s.Exec()
		}
		if v.err != nil {
			c.rolledBack = conflict == ""
			return c.wrapError(v.err)
		}
		i += rows
	}
	return nil
}

// Written implements store.Conn. It does nothing: the outcome of a commit is never unknown.
func (c *conn) Written(registry.Seq, []byte) {}

// Erased implements store.Conn. The write-ahead log contains the previous pages until it is truncated.
func (c *conn) Erased() { c.removed = true }
