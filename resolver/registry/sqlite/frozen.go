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

// A file system that is full or read-only takes none of the files that SQLite has beside a database, without which it opens none that
// has a write-ahead log. Names are read all the same: where all is in the file, it is read without those and without locks, for as long as
// nobody changes it, which is looked at before and after each question.

// frozen is why a file is read so, and what it was then.
type frozen struct {
	why error
	is  state
}

// state is what tells whether a file, or what is in its log, has changed.
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

// takesNothing reports whether nothing can be written beside a file.
func takesNothing(path string) bool { return isFull(path) || isReadOnly(path) }

// freeze opens a store to be read only. why is the error for those who write.
func (s *Store) freeze(ctx context.Context, why error) (err error) {
	if err := emptyLog(s.path); err != nil {
		return err
	}
	s.frozen = &frozen{why: why}
	if s.frozen.is, err = stateOf(s.path); err != nil {
		return err
	}
	if s.frozen.is.log > 0 {
		return fmt.Errorf("%s-wal is not in the file yet", s.path)
	}
	if s.file, err = os.Stat(s.path); err != nil {
		return err
	}
	for _, p := range []*pool{s.questions, s.transactions} {
		p.immutable = true
	}
	return s.questions.with(ctx, func(c *conn) error { return c.checkSchema() })
}

// emptyLog moves what is in the log of a file into it, if that needs no room. Who has the file for himself needs no file beside it for that.
func emptyLog(path string) error {
	if now, err := stateOf(path); err != nil || now.log == 0 {
		return err
	}
	db, err := sqlite3.OpenFlags(uriOf(path, ""), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return err
	}
	err = db.Exec(fmt.Sprintf("PRAGMA busy_timeout=%d; PRAGMA locking_mode=EXCLUSIVE; PRAGMA wal_checkpoint(TRUNCATE)", busyTimeout.Milliseconds()))
	return errors.Join(err, db.Close())
}

// isFrozen returns an error where a store that is read only must be opened again.
func (s *Store) isFrozen() error {
	if s.frozen == nil {
		return nil
	}
	if now, err := stateOf(s.path); err != nil || now != s.frozen.is || !takesNothing(s.path) {
		return fmt.Errorf("%w: %w", about(s.path, registry.ErrNoStore, ""), registry.ErrReopen)
	}
	return nil
}

// whileFrozen calls a question, whose answer counts if nothing has changed meanwhile.
func (s *Store) whileFrozen(question func() error) error {
	if s.frozen == nil {
		return question()
	}
	if err := s.isFrozen(); err != nil {
		return err
	}
	err := question()
	if changed := s.isFrozen(); changed != nil {
		return changed
	}
	return err
}

// Unwritable returns why nothing can be written now, nil where it probably can.
func (s *Store) Unwritable() error {
	switch {
	case s.frozen != nil:
		return s.frozen.why
	case isFull(s.path):
		return faultOf(s.path, sqlite3.FULL)
	}
	return nil
}
