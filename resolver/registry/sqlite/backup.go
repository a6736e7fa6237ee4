package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver/registry/store"
)

// backupPages is how many pages are copied between checks of the context.
const backupPages = 1024

// Backup copies a snapshot of the store to a file, which replaces an existing file once it is complete: see
// WriteBackup. It does not block writers, but their write-ahead log cannot be truncated before the backup ends.
// progress is called with the number of copied pages, and of all pages.
func (s *Store) Backup(ctx context.Context, file string, progress func(done, all int)) error {
	return WriteBackup(ctx, file, func(_ *os.File, path string) error {
		return s.transactions.with(ctx, func(c *conn) error {
			return s.readUnchanged(func() error {
				return c.within(ctx, "BEGIN", func() error { return c.backup(ctx, path, progress) })
			})
		})
	})
}

// WriteBackup writes a file by calling write, and replaces an existing file once it is complete. The file has
// mode 0600, and belongs to the owner of its directory if the process may change the owner. Its digest is
// written afterwards, to a file beside it with the same mode and owner. write receives the new file and its
// path.
func WriteBackup(ctx context.Context, file string, write func(f *os.File, path string) error) error {
	temporary := file + ".new"
	f, err := newFile(temporary)
	if err != nil {
		return fmt.Errorf("making a backup: %w", err)
	}
	defer f.Close()
	err = write(f, temporary)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	var digest [sha256.Size]byte
	if err == nil {
		digest, err = digestOf(ctx, f)
	}
	if err == nil {
		giveToOwner(f, filepath.Dir(file))
		// The old digest is removed first: it would reject the new file.
		err = errors.Join(removed(DigestFile(file)), os.Rename(temporary, file))
	}
	if err == nil {
		err = errors.Join(writeDigest(file, digest), syncDirectory(filepath.Dir(file)))
	}
	if err != nil {
		return fmt.Errorf("making the backup %s: %w", file, errors.Join(err, removed(temporary, temporary+"-journal")))
	}
	return nil
}

// backup copies the database within the current transaction, whose snapshot touch establishes first.
func (c *conn) backup(ctx context.Context, file string, progress func(done, all int)) (err error) {
	if err := c.touch(); err != nil {
		return err
	}
	b, err := c.db.BackupInit("main", uriOf(file, ""))
	if err != nil {
		return failureOf(file, err)
	}
	defer func() {
		if e := b.Close(); err == nil && e != nil {
			err = failureOf(file, e)
		}
	}()
	for {
		done, err := b.Step(backupPages)
		switch {
		case err != nil:
			return failureOf(file, err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		progress(b.PageCount()-b.Remaining(), b.PageCount())
		if done {
			return nil
		}
	}
}

// OpenBackup opens a backup for reading. It writes nothing, neither to the file nor beside it. No other process
// may write to the file meanwhile. A backup with an older schema is an error.
func OpenBackup(ctx context.Context, file string) (*Store, error) {
	for _, beside := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(file + beside); err == nil && info.Size() > 0 {
			return nil, fmt.Errorf("%w: %s is in use, or was not closed: %s%s exists, so it is "+
				"not a backup", errUnavailable, file, filepath.Base(file), beside)
		}
	}
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("opening a backup: %w", err)
	}
	s := &Store{path: file, writing: make(quota.Semaphore, 1)}
	s.Store = store.New(database{s})
	s.lookups, s.transactions = newPool(file, 1), newPool(file, 1)
	s.lookups.immutable, s.transactions.immutable = true, true
	err := s.lookups.with(ctx, func(c *conn) error { return c.checkSchema() })
	if err != nil {
		return nil, failureOf(file, errors.Join(err, s.Close()))
	}
	return s, nil
}

// checkSchema returns an error unless the schema is the current one: registry.ErrSchema for a newer schema,
// errOlder for an older one.
func (c *conn) checkSchema() error {
	var id, has int64
	err := c.Query("SELECT application_id FROM pragma_application_id", func(row store.Row) error {
		id = row.Int(0)
		return nil
	})
	if err != nil {
		return err
	}
	if id != applicationID {
		return errors.New("not a registry database")
	}
	target, err := schema()
	if err != nil {
		return err
	}
	err = c.Query("SELECT max(version_id) FROM goose_db_version", func(row store.Row) error {
		has = row.Int(0)
		return nil
	})
	switch {
	case err != nil:
		return err
	case has > target:
		return newerSchema(c.path, has, target)
	case has < target:
		return fmt.Errorf("%w: %s has schema %d, this version has %d; a restore migrates it", errOlder, c.path,
			has, target)
	}
	return nil
}

var errOlder = errors.New("backup of an older version of urnd")

// newFile creates the file of a database with mode 0600. It removes a stale file first, with its logs, which
// SQLite would apply to the new file. It does not follow a symbolic link: root may write into the directory of
// another user, who could thereby choose the file to overwrite.
func newFile(path string) (*os.File, error) {
	if err := removed(path, path+"-wal", path+"-shm", path+"-journal"); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is configured
}

// giveToOwner changes the owner of a file to that of a directory. Only root may do that; for other users the
// call has no effect.
func giveToOwner(f *os.File, directory string) {
	if uid, gid, ok := ownerOf(directory); ok {
		_ = f.Chown(uid, gid)
	}
}

func syncDirectory(path string) error {
	d, err := os.Open(path) //nolint:gosec // the directory of a file that was written
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// removed removes files, which need not exist.
func removed(files ...string) error {
	var failures []error
	for _, file := range files {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}
