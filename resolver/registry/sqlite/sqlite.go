// Package sqlite is a store of the registry in one file, by SQLite. Several processes may use the file
// at once.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3"

	"github.com/urnd/urnd/resolver/registry"
)

//go:embed migrations
var migrations embed.FS

// Store is a registry.Store in a file.
type Store struct {
	path    string
	readers chan *conn // those that are free
	all     []*conn

	writing sync.Mutex
	writer  *conn
}

// Open opens the store in a file, which it makes where there is none. Its errors wrap
// registry.ErrNoStore, ErrSchema or ErrDamaged.
func Open(ctx context.Context, path string) (*Store, error) {
	s := &Store{path: path}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("opening the registry %s: %w", path, kindOf(err))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := migrate(ctx, s.path); err != nil {
		return err
	}
	var err error
	if s.writer, err = connect(s.path, true); err != nil {
		return err
	}
	n := max(runtime.GOMAXPROCS(0), 2)
	s.readers = make(chan *conn, n)
	for range n {
		c, err := connect(s.path, false)
		if err != nil {
			return err
		}
		s.all = append(s.all, c)
		s.readers <- c
	}
	return nil
}

// migrate brings the schema of a file to that of this version.
func migrate(ctx context.Context, path string) (err error) {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	db, err := driver.Open("file:" + path + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return up(ctx, db)
}

func up(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	if err != nil {
		return err
	}
	has, target, err := p.GetVersions(ctx)
	switch {
	case err != nil:
		return err
	case has == target:
		return nil
	case has > target:
		return fmt.Errorf("%w: it has schema %d, and this version knows %d", registry.ErrSchema, has, target)
	}
	_, err = p.Up(ctx)
	return err
}

// Close implements registry.Store. No other method may be running.
func (s *Store) Close() error {
	var faults []error
	for _, c := range s.all {
		faults = append(faults, c.close())
	}
	if s.writer != nil {
		faults = append(faults, s.writer.close())
	}
	return errors.Join(faults...)
}

// Hint implements registry.Store: there is none, as other processes give none.
func (s *Store) Hint() <-chan struct{} { return nil }

// reader returns a connection for reading, when one is free.
func (s *Store) reader(ctx context.Context) (*conn, error) {
	select {
	case c := <-s.readers:
		return c, nil
	default:
	}
	select {
	case c := <-s.readers:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Lookup implements registry.Store.
func (s *Store) Lookup(ctx context.Context, key registry.Key) (registry.Entry, error) {
	c, err := s.reader(ctx)
	if err != nil {
		return registry.Entry{}, err
	}
	e, err := c.lookup(key)
	s.readers <- c
	return e, kindOf(err)
}

// Floor implements registry.Store.
func (s *Store) Floor(ctx context.Context, text string) (registry.Entry, error) {
	c, err := s.reader(ctx)
	if err != nil {
		return registry.Entry{}, err
	}
	e, err := c.Floor(text)
	s.readers <- c
	return e, kindOf(err)
}

// Head implements registry.Store.
func (s *Store) Head(ctx context.Context) (registry.Seq, error) {
	c, err := s.reader(ctx)
	if err != nil {
		return 0, err
	}
	head, err := c.head()
	s.readers <- c
	return head, kindOf(err)
}

// Read implements registry.Store.
func (s *Store) Read(ctx context.Context, f func(registry.Tx) error) error {
	c, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { s.readers <- c }()
	return c.within(ctx, "BEGIN", func() error { return f(c) })
}

// Write implements registry.Store.
func (s *Store) Write(ctx context.Context, f func(registry.WriteTx) error) error {
	return s.write(ctx, "FULL", f)
}

// Bulk implements registry.Store.
func (s *Store) Bulk(ctx context.Context, f func(registry.WriteTx) error) error {
	return s.write(ctx, "NORMAL", f)
}

func (s *Store) write(ctx context.Context, synchronous string, f func(registry.WriteTx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.writer.synchronize(synchronous); err != nil {
		return kindOf(err)
	}
	return s.writer.within(ctx, "BEGIN IMMEDIATE", func() error { return f(s.writer) })
}

// kindOf wraps an error of SQLite in the kind of registry errors that it is.
func kindOf(err error) error {
	switch {
	case err == nil || errors.Is(err, registry.ErrSchema) || errors.Is(err, registry.ErrDamaged) || errors.Is(err, registry.ErrNoStore):
		return err
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("%w: %w", registry.ErrDamaged, err)
	default:
		return fmt.Errorf("%w: %w", registry.ErrNoStore, err)
	}
}
