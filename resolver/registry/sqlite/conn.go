package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
)

// busyTimeout is how long a writer waits for those of other processes.
const busyTimeout = 10 * time.Second

// conn is a connection with its prepared statements. It is not safe for concurrent use. It
// implements registry.WriteTx while a transaction runs.
type conn struct {
	path       string
	db         *sqlite3.Conn
	current    *sqlite3.Stmt // currentEntry, which nearly all questions are
	statements map[string]*sqlite3.Stmt
	durability *durability // of the last transaction

	removed      bool          // what the write-ahead log may still have was removed
	emptyTimeout time.Duration // how long readers are waited for then
	logged       int           // pages in the write-ahead log, as far as this connection has seen
	restartAt    int           // how many of them make the writer wait for readers
}

// uriOf returns a file as a URI, with parameters. Whatever SQLite makes beside the file gets
// its owner and mode.
func uriOf(path, parameters string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?modeof=" + strings.ReplaceAll(url.QueryEscape(path), "+", "%20") + parameters
}

// mode is what a connection does.
type mode int

const (
	reads     mode = iota
	writes         // and reads
	immutable      // reads what nobody writes
)

// connect returns a connection to a file, with a page cache in KiB.
func connect(path string, cache int, m mode) (*conn, error) {
	flags, parameters := sqlite3.OPEN_READWRITE, ""
	if m == immutable {
		flags, parameters = sqlite3.OPEN_READONLY, "&immutable=1"
	}
	db, err := sqlite3.OpenFlags(uriOf(path, parameters), flags|sqlite3.OPEN_URI|sqlite3.OPEN_EXRESCODE)
	if err != nil {
		return nil, err
	}
	c := &conn{path: path, db: db, statements: make(map[string]*sqlite3.Stmt), restartAt: restartPages, emptyTimeout: restartTimeout}
	if err := c.set(cache, m); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// set sets up a new connection.
func (c *conn) set(cache int, m mode) (err error) {
	if err := c.db.BusyTimeout(busyTimeout); err != nil {
		return err
	}
	// Temporary structures stay in memory: a directory for them might be full, or anyone's.
	pragmas := fmt.Sprintf("PRAGMA temp_store=MEMORY; PRAGMA cache_size=-%d;", cache)
	if m == writes {
		// What is redacted or purged is gone from the file, and from backups of it, whose pages are copied as they are.
		pragmas += fmt.Sprintf("PRAGMA secure_delete=ON; PRAGMA journal_size_limit=%d", restartPages*pageSize)
		c.db.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
			c.logged = pages
			return nil
		})
	} else {
		pragmas += "PRAGMA query_only=1"
	}
	if err := c.db.Exec(pragmas); err != nil {
		return err
	}
	c.current, _, err = c.db.PrepareFlags(currentEntry, sqlite3.PREPARE_PERSISTENT)
	return err
}

func (c *conn) close() error {
	err := c.current.Close()
	for _, s := range c.statements {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, c.db.Close())
}

// durability is how a transaction is made to last, and how much memory is worth it, in KiB.
type durability struct {
	synchronous string
	cache       int
}

// synchronize sets how durable the next transaction is.
func (c *conn) synchronize(d *durability) error {
	if c.durability == d {
		return nil
	}
	if err := c.db.Exec(fmt.Sprintf("PRAGMA synchronous=%s; PRAGMA cache_size=-%d", d.synchronous, d.cache)); err != nil {
		return c.fault(err)
	}
	c.durability = d
	return nil
}

// within calls f in a transaction, which is rolled back where f fails or panics, or ctx ends before
// it is committed.
func (c *conn) within(ctx context.Context, begin string, f func() error) (err error) {
	before := c.db.SetInterrupt(ctx)
	defer c.db.SetInterrupt(before)
	if err := c.db.Exec(begin); err != nil {
		return c.fault(err)
	}
	defer func() {
		c.db.SetInterrupt(before)
		if !c.db.GetAutocommit() { // it is neither committed nor rolled back by SQLite
			err = errors.Join(err, c.fault(c.db.Exec("ROLLBACK")))
		}
	}()
	if err := f(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.db.SetInterrupt(before) // a commit is not broken off
	return c.fault(c.db.Exec("COMMIT"))
}

// statement returns a prepared statement, which the caller resets.
func (c *conn) statement(text string) (*sqlite3.Stmt, error) {
	if s := c.statements[text]; s != nil {
		return s, nil
	}
	s, _, err := c.db.PrepareFlags(text, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, c.fault(err)
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
		return c.fault(err)
	}
	for s.Step() {
		if err := row(s); err != nil {
			_ = s.Reset()
			return err
		}
	}
	return c.finish(s)
}

// finish resets a statement, and returns what went wrong in it.
func (c *conn) finish(s *sqlite3.Stmt) error {
	err := s.Err()
	if reset := s.Reset(); err == nil {
		err = reset
	}
	return c.fault(err)
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
