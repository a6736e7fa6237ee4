package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
)

// conn is a connection with its prepared statements. It is not safe for concurrent use. It
// implements registry.WriteTx while a transaction runs.
type conn struct {
	db          *sqlite3.Conn
	statements  map[string]*sqlite3.Stmt
	synchronous string
}

// connect returns a connection to a file.
func connect(path string, writes bool) (*conn, error) {
	db, err := sqlite3.OpenFlags("file:"+path, sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI|sqlite3.OPEN_EXRESCODE)
	if err != nil {
		return nil, err
	}
	c := &conn{db: db, statements: make(map[string]*sqlite3.Stmt)}
	pragmas := "PRAGMA busy_timeout=10000; PRAGMA cache_size=-4096; PRAGMA query_only=1"
	if writes {
		pragmas = "PRAGMA busy_timeout=10000; PRAGMA cache_size=-65536"
	}
	if err := db.Exec(pragmas); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return c, nil
}

func (c *conn) close() error {
	for _, s := range c.statements {
		s.Close()
	}
	return c.db.Close()
}

// synchronize sets how durable the next transaction is.
func (c *conn) synchronize(mode string) error {
	if c.synchronous == mode {
		return nil
	}
	if err := c.db.Exec("PRAGMA synchronous=" + mode); err != nil {
		return err
	}
	c.synchronous = mode
	return nil
}

// within calls f in a transaction.
func (c *conn) within(ctx context.Context, begin string, f func() error) (err error) {
	before := c.db.SetInterrupt(ctx)
	defer c.db.SetInterrupt(before)
	if err := c.db.Exec(begin); err != nil {
		return kindOf(err)
	}
	done := false
	defer func() {
		if !done { // also where f panics
			c.db.SetInterrupt(context.Background())
			err = errors.Join(err, c.db.Exec("ROLLBACK"))
		}
	}()
	if err := f(); err != nil {
		return err
	}
	if err := c.db.Exec("COMMIT"); err != nil {
		return kindOf(err)
	}
	done = true
	return nil
}

// statement returns a prepared statement, which the caller resets.
func (c *conn) statement(text string) (*sqlite3.Stmt, error) {
	if s := c.statements[text]; s != nil {
		return s, nil
	}
	s, _, err := c.db.PrepareFlags(text, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, kindOf(err)
	}
	c.statements[text] = s
	return s, nil
}

// query calls row for each row of a question. args are int64, string or []byte.
func (c *conn) query(text string, row func(s *sqlite3.Stmt) error, args ...any) error {
	s, err := c.statement(text)
	if err != nil {
		return err
	}
	if err := bind(s, args); err != nil {
		return kindOf(err)
	}
	for s.Step() {
		if err := row(s); err != nil {
			_ = s.Reset()
			return err
		}
	}
	return kindOf(errors.Join(s.Err(), s.Reset()))
}

// exec runs a statement without rows.
func (c *conn) exec(text string, args ...any) error {
	return c.query(text, func(*sqlite3.Stmt) error { return nil }, args...)
}

func bind(s *sqlite3.Stmt, args []any) error {
	for i, arg := range args {
		var err error
		switch v := arg.(type) {
		case int64:
			err = s.BindInt64(i+1, v)
		case string:
			err = s.BindText(i+1, v)
		case []byte:
			err = s.BindBlob(i+1, v)
		default:
			err = fmt.Errorf("an argument of type %T", arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// head returns the Seq of the last version.
func (c *conn) head() (head registry.Seq, err error) {
	err = c.query("SELECT max(seq) FROM versions", func(s *sqlite3.Stmt) error {
		head = registry.Seq(s.ColumnInt64(0))
		return nil
	})
	return head, err
}
