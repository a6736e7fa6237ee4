package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// busyTimeout is how long a writer waits for writers of other processes.
const busyTimeout = 10 * time.Second

// conn is a connection with its prepared statements. It is not safe for concurrent use. It implements
// store.Conn during a transaction.
type conn struct {
	path       string
	db         *sqlite3.Conn
	statements map[string]*sqlite3.Stmt // by their text before Dialect.Statement
	durability *durability              // of the last transaction

	rolledBack   bool          // SQLite rolled the transaction back: further statements would run outside of it
	removed      bool          // the write-ahead log may still contain removed data
	emptyTimeout time.Duration // how long empty waits for readers
	logged       int           // pages in the write-ahead log, as seen by this connection
	restartAt    int           // number of pages from which the writer waits for readers
}

// uriOf returns the SQLite URI of a file, with parameters. Files that SQLite creates beside it inherit its
// owner and mode.
func uriOf(path, parameters string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?modeof=" +
		strings.ReplaceAll(url.QueryEscape(path), "+", "%20") + parameters
}

// mode is the access mode of a connection.
type mode int

const (
	reads     mode = iota
	writes         // reads and writes
	immutable      // reads a file that no process writes
)

// connect opens a connection to a file. vfs is the name of a VFS, "" for the default one; cache is the size of
// the page cache in KiB.
func connect(path, vfs string, cache int, m mode) (*conn, error) {
	flags, parameters := sqlite3.OPEN_READWRITE, ""
	if vfs != "" {
		parameters = "&vfs=" + vfs
	}
	if m == immutable {
		flags, parameters = sqlite3.OPEN_READONLY, "&immutable=1"
	}
	db, err := sqlite3.OpenFlags(uriOf(path, parameters), flags|sqlite3.OPEN_URI|sqlite3.OPEN_EXRESCODE)
	if err != nil {
		return nil, err
	}
	c := &conn{
		path: path, db: db, statements: make(map[string]*sqlite3.Stmt), restartAt: restartPages,
		emptyTimeout: restartTimeout,
	}
	if err := c.set(cache, m); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// set configures a new connection.
func (c *conn) set(cache int, m mode) error {
	if err := c.db.BusyTimeout(busyTimeout); err != nil {
		return err
	}
	// Temporary structures are kept in memory: a directory for them might be full, or writable by anyone.
	pragmas := fmt.Sprintf("PRAGMA temp_store=MEMORY; PRAGMA cache_size=-%d;", cache)
	if m == writes {
		// secure_delete: redacted and purged data must disappear from the file, and from backups, which copy
		// its pages.
		pragmas += fmt.Sprintf("PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON; PRAGMA journal_size_limit=%d",
			restartPages*pageSize)
		c.db.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
			c.logged = pages
			return nil
		})
	} else {
		pragmas += "PRAGMA query_only=1"
	}
	return c.db.Exec(pragmas)
}

func (c *conn) close() error {
	var err error
	for _, s := range c.statements {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, c.db.Close())
}

// durability is the synchronous mode of a transaction, and the size of its page cache in KiB.
type durability struct {
	synchronous string
	cache       int
}

// synchronize sets the durability of the next transaction.
func (c *conn) synchronize(d *durability) error {
	if c.durability == d {
		return nil
	}
	if err := c.db.Exec(fmt.Sprintf("PRAGMA synchronous=%s; PRAGMA cache_size=-%d", d.synchronous,
		d.cache)); err != nil {
		return c.wrapError(err)
	}
	c.durability = d
	return nil
}

// within calls f in a transaction. The transaction is rolled back if f fails or panics, or if ctx ends before
// the commit.
func (c *conn) within(ctx context.Context, begin string, f func() error) (err error) {
	before := c.db.SetInterrupt(ctx)
	defer c.db.SetInterrupt(before)
	if err := c.db.Exec(begin); err != nil {
		return c.wrapError(err)
	}
	defer func() {
		c.db.SetInterrupt(before)
		c.rolledBack = false
		if !c.db.GetAutocommit() { // neither committed nor rolled back by SQLite
			err = errors.Join(err, c.wrapError(c.db.Exec("ROLLBACK")))
		}
	}()
	if err := f(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.rolledBack {
		return errRolledBack
	}
	c.db.SetInterrupt(before) // a commit is not interrupted
	return c.wrapError(c.db.Exec("COMMIT"))
}

// errRolledBack is the error of statements after an error that has rolled the transaction back.
var errRolledBack = errors.New("transaction already rolled back by an earlier error")

// touch establishes the snapshot of a transaction, which otherwise happens at its first statement that reads.
func (c *conn) touch() error {
	return c.Exec("SELECT 1 FROM commits LIMIT 1")
}
