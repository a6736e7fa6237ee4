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

// busyTimeout is how long a writer waits for those of other processes.
const busyTimeout = 10 * time.Second

// conn is a connection with its prepared statements. It is not safe for concurrent use. It
// implements store.Conn while a transaction runs.
type conn struct {
	path       string
	db         *sqlite3.Conn
	statements map[string]*sqlite3.Stmt // by the text that they were written as
	durability *durability              // of the last transaction

	rolledBack   bool          // the transaction, by SQLite: what follows would be outside of it
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

// connect returns a connection to a file, by a VFS, "" for that of the system, with a page cache in KiB.
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
	c := &conn{path: path, db: db, statements: make(map[string]*sqlite3.Stmt), restartAt: restartPages, emptyTimeout: restartTimeout}
	if err := c.set(cache, m); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// set sets up a new connection.
func (c *conn) set(cache int, m mode) error {
	if err := c.db.BusyTimeout(busyTimeout); err != nil {
		return err
	}
	// Temporary structures stay in memory: a directory for them might be full, or anyone's.
	pragmas := fmt.Sprintf("PRAGMA temp_store=MEMORY; PRAGMA cache_size=-%d;", cache)
	if m == writes {
		// What is redacted or purged is gone from the file, and from backups of it, whose pages are copied as they are.
		pragmas += fmt.Sprintf("PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON; PRAGMA journal_size_limit=%d", restartPages*pageSize)
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
		c.rolledBack = false
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
	if c.rolledBack {
		return errRolledBack
	}
	c.db.SetInterrupt(before) // a commit is not broken off
	return c.fault(c.db.Exec("COMMIT"))
}

// errRolledBack is the error of a transaction that went on after an error that has ended it.
var errRolledBack = errors.New("the transaction was rolled back by an error before")

// touch makes a transaction begin, which else begins with its first statement that reads.
func (c *conn) touch() error {
	return c.Exec("SELECT 1 FROM commits LIMIT 1")
}
