// Package sqlite stores a registry in a single SQLite file, which several processes may use at the same time.
// The statements of package store enter; rows, backups, and errors that wrap those of package registry leave.
// It follows the file format of SQLite 3 (https://www.sqlite.org/fileformat2.html), in WAL mode, and
// sha256sum(1) for the digests of backups.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/store"
)

// Store is a registry.Store in a file.
type Store struct {
	*store.Store
	path    string
	vfs     string      // of the writer; "" is the default one, tests set another
	created bool        // the file was created by Open
	file    os.FileInfo // the opened file; nil disables the check for its replacement
	// lookups serves lookups with connections of their own, so that long transactions do not block them.
	lookups, transactions *pool
	writing               quota.Semaphore // semaphore of size 1 that guards writer
	writer                *conn
	durable, bulk         durability
	readOnly              *readOnlyMode // nil if the store is readable and writable
}

// Open opens the store in a file. If the file does not exist it is created with mode 0600, unless CheckLost reports
// that it existed. On a full or read-only file system the store is read-only, provided that its log is empty;
// its methods return registry.ErrReopen once that changes. Errors wrap registry.ErrUnavailable, ErrSchema or
// ErrDamaged, and include advice.
func Open(ctx context.Context, path string) (*Store, error) {
	s := newStore(path)
	err := s.open(ctx)
	if err == nil {
		return s, nil
	}
	err = failureOf(path, errors.Join(err, s.Close()))
	if !cannotCreate(path) || errors.Is(err, registry.ErrDamaged) {
		return nil, err
	}
	s = newStore(path)
	if s.openReadOnly(ctx, err) != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func newStore(path string) *Store {
	n := max(runtime.GOMAXPROCS(0), 2)
	s := &Store{
		path: path, writing: make(quota.Semaphore, 1), durable: durability{"FULL", writerCache},
		bulk: durability{"NORMAL", bulkCache}, lookups: newPool(path, n), transactions: newPool(path, n),
	}
	s.Store = store.New(database{s})
	return s
}

func (s *Store) open(ctx context.Context) error {
	var err error
	if s.created, err = prepare(ctx, s.path); err != nil {
		return err
	}
	if s.file, err = os.Stat(s.path); err != nil {
		return err
	}
	if s.writer, err = connect(s.path, s.vfs, writerCache, writes); err != nil {
		return err
	}
	// The first reader also creates the files that SQLite keeps beside the database.
	if err := s.lookups.with(ctx, func(c *conn) error { return c.touch() }); err != nil {
		return err
	}
	return shareAs(s.path)
}

// isThere returns ErrReplaced if the path no longer refers to the opened file. SQLite would continue with that
// file, which other processes cannot see, and which is lost with this process.
func (s *Store) isThere() error {
	if s.file == nil {
		return nil
	}
	now, err := os.Stat(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(now, s.file) {
		return nil // the same file, or it cannot be examined now
	}
	return fmt.Errorf("%w: %w", about(s.path, registry.ErrUnavailable, ""), registry.ErrReplaced)
}

// Created reports whether Open created the file.
func (s *Store) Created() bool { return s.created }

// Path returns the path of the file.
func (s *Store) Path() string { return s.path }

// Close implements registry.Store. No other method may be running.
func (s *Store) Close() error {
	var err error
	for _, p := range []*pool{s.lookups, s.transactions} {
		if p != nil {
			err = errors.Join(err, p.close())
		}
	}
	if s.writer != nil { // last, since it may copy the log into the file
		err = errors.Join(err, s.writer.close())
	}
	return err
}

// Notifications implements registry.Store. It returns nil: SQLite has no notifications across processes.
func (s *Store) Notifications() <-chan struct{} { return nil }

// database implements store.Database.
type database struct{ *Store }

// Lookup implements store.Database.
func (s database) Lookup(ctx context.Context, statement string, next func(store.Row) error, args ...any) error {
	c, err := s.lookups.get(ctx)
	if err != nil {
		return err
	}
	defer s.lookups.put(c)
	if s.readOnly == nil { // the fast path for writable stores
		return c.Query(statement, next, args...)
	}
	return s.readUnchanged(func() error { return c.Query(statement, next, args...) })
}

// Read implements store.Database.
func (s database) Read(ctx context.Context, f func(store.Conn) error) error {
	if err := s.isThere(); err != nil {
		return err
	}
	return s.transactions.with(ctx, func(c *conn) error {
		return s.readUnchanged(func() error { return c.within(ctx, "BEGIN", func() error { return f(c) }) })
	})
}

// Write implements store.Database.
func (s database) Write(ctx context.Context, relaxed bool, f func(store.Conn) error) error {
	d := &s.durable
	if relaxed {
		d = &s.bulk
	}
	return s.write(ctx, d, f)
}

// Known implements store.Database. It does nothing: there are no replicas.
func (database) Known(registry.Seq) {}

func (s *Store) write(ctx context.Context, d *durability, f func(store.Conn) error) error {
	if s.readOnly != nil {
		if err := s.checkReadOnly(); err != nil {
			return err
		}
		return s.readOnly.cause
	}
	if s.writer == nil { // a backup
		return fmt.Errorf("%w was opened read-only", about(s.path, registry.ErrUnavailable, ""))
	}
	if s.writing.Acquire(ctx) != nil {
		return ctx.Err()
	}
	defer s.writing.Release()
	if err := s.isThere(); err != nil {
		return err
	}
	if err := s.writer.synchronize(d); err != nil {
		return err
	}
	if err := s.writer.within(ctx, "BEGIN IMMEDIATE", func() error { return f(s.writer) }); err != nil {
		return err
	}
	s.writer.checkpoint()
	return nil
}
