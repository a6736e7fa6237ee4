package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
)

// On a full or read-only file system, SQLite cannot create the files beside a database without which it does
// not open one in WAL mode. Such a store is opened read-only instead: if the log is empty, the file is read
// without these files and without locks (immutable=1), as long as it does not change. That is checked before
// and after each query.

// readOnlyMode is the read-only mode: its cause, and the state of the file when it was opened.
type readOnlyMode struct {
	cause error
	state state
}

// state identifies the content of a file and its log.
type state struct {
	size, log int64
	changed   time.Time
}

func stateOf(path string) (s state, err error) {
	file, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	s.size, s.changed = file.Size(), file.ModTime()
	if log, err := os.Stat(path + "-wal"); err == nil {
		s.log = log.Size()
	}
	return s, nil
}

// cannotCreate reports whether no files can be created beside a file.
func cannotCreate(path string) bool { return isFull(path) || isReadOnly(path) }

// openReadOnly opens a store in read-only mode. why is the error for writers.
func (s *Store) openReadOnly(ctx context.Context, why error) (err error) {
	if err := emptyLog(s.path); err != nil {
		return err
	}
	s.readOnly = &readOnlyMode{cause: why}
	if s.readOnly.state, err = stateOf(s.path); err != nil {
		return err
	}
	if s.readOnly.state.log > 0 {
		return fmt.Errorf("%s-wal not yet merged into the file", s.path)
	}
	if s.file, err = os.Stat(s.path); err != nil {
		return err
	}
	for _, p := range []*pool{s.lookups, s.transactions} {
		p.immutable = true
	}
	return s.lookups.with(ctx, func(c *conn) error { return c.checkSchema() })
}

// emptyLog copies the log of a file into it, if that needs no disk space. With exclusive access, SQLite needs
// no other file for that.
func emptyLog(path string) error {
	if now, err := stateOf(path); err != nil || now.log == 0 {
		return err
	}
	db, err := sqlite3.OpenFlags(uriOf(path, ""), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return err
	}
	err = db.Exec(fmt.Sprintf("PRAGMA busy_timeout=%d; PRAGMA locking_mode=EXCLUSIVE; PRAGMA wal_checkpoint(TRUNCATE)",
		busyTimeout.Milliseconds()))
	return errors.Join(err, db.Close())
}

// checkReadOnly returns ErrReopen if a read-only store must be opened again.
func (s *Store) checkReadOnly() error {
	if s.readOnly == nil {
		return nil
	}
	if now, err := stateOf(s.path); err != nil || now != s.readOnly.state || !cannotCreate(s.path) {
		return fmt.Errorf("%w: %w", about(s.path, registry.ErrUnavailable, ""), registry.ErrReopen)
	}
	return nil
}

// readUnchanged calls question, and discards its result if the file has changed meanwhile.
func (s *Store) readUnchanged(question func() error) error {
	if s.readOnly == nil {
		return question()
	}
	if err := s.checkReadOnly(); err != nil {
		return err
	}
	err := question()
	if changed := s.checkReadOnly(); changed != nil {
		return changed
	}
	return err
}

// ReadOnlyErr returns why the store is read-only, nil if it is presumably writable.
func (s *Store) ReadOnlyErr() error {
	switch {
	case s.readOnly != nil:
		return s.readOnly.cause
	case isFull(s.path):
		return failureOf(s.path, sqlite3.FULL)
	}
	return nil
}
