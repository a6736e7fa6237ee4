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
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/store"
)

// backupPages is how many pages are copied between two looks at the context.
const backupPages = 1024

// Backup copies the store, as it is at one moment, to a file that replaces what is there once it
// is complete: see WriteBackup. Writers are not kept waiting; their log stays as long as the backup takes. progress
// is called with the pages that were copied, and all.
func (s *Store) Backup(ctx context.Context, file string, progress func(done, all int)) error {
	return WriteBackup(ctx, file, func(_ *os.File, path string) error {
		return s.transactions.with(ctx, func(c *conn) error {
			return s.whileFrozen(func() error {
				return c.within(ctx, "BEGIN", func() error { return c.backup(ctx, path, progress) })
			})
		})
	})
}

// WriteBackup has a file written, which replaces what is there once it is complete. The file has mode 0600, and belongs to the owner of
// its directory, if it may be given to that. So has its digest, which is written beside it after it. write gets the new file and its path.
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
		// First without a digest: that of a file that was there before would refuse this one.
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

// backup copies the state that a transaction sees, which begins with its first question.
func (c *conn) backup(ctx context.Context, file string, progress func(done, all int)) (err error) {
	if err := c.touch(); err != nil {
		return err
	}
	b, err := c.db.BackupInit("main", uriOf(file, ""))
	if err != nil {
		return faultOf(file, err)
	}
	defer func() {
		if e := b.Close(); err == nil && e != nil {
			err = faultOf(file, e)
		}
	}()
	for {
		done, err := b.Step(backupPages)
		switch {
		case err != nil:
			return faultOf(file, err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		progress(b.PageCount()-b.Remaining(), b.PageCount())
		if done {
			return nil
		}
	}
}

// OpenBackup opens a backup to be read. Nothing is written, to the file or beside it, and no other
// process may be writing to it. One of an older schema is an error.
func OpenBackup(ctx context.Context, file string) (*Store, error) {
	for _, beside := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(file + beside); err == nil && info.Size() > 0 {
			return nil, fmt.Errorf("%w: %s is in use, or was not closed: there is %s%s beside it, so that it is "+
				"not a backup", registry.ErrNoStore, file, filepath.Base(file), beside)
		}
	}
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("opening a backup: %w", err)
	}
	s := &Store{path: file, writing: make(quota.Semaphore, 1)}
	s.Store = store.New(database{s})
	s.questions, s.transactions = newPool(file, 1), newPool(file, 1)
	s.questions.immutable, s.transactions.immutable = true, true
	err := s.questions.with(ctx, func(c *conn) error { return c.checkSchema() })
	if err != nil {
		return nil, faultOf(file, errors.Join(err, s.Close()))
	}
	return s, nil
}

// checkSchema returns ErrSchema unless the schema is that of this version.
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
		return errors.New("it is not a database of the registry")
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
		return fmt.Errorf("%w: %s has schema %d, and this version has %d; restoring it brings it there", errOlder, c.path, has, target)
	}
	return nil
}

var errOlder = errors.New("the backup was written by an older version of urnd")

// newFile makes the file of a database for its owner alone, in place of one that was left over with its logs, which
// SQLite would apply to the new one. It does not follow a link: root may write into the directory of somebody else,
// who would choose what is written to.
func newFile(path string) (*os.File, error) {
	if err := removed(path, path+"-wal", path+"-shm", path+"-journal"); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is configured
}

// giveToOwner gives a file to the owner of a directory. Only root may, and for others it
// is theirs already.
func giveToOwner(f *os.File, directory string) {
	if uid, gid, ok := ownerOf(directory); ok {
		_ = f.Chown(uid, gid)
	}
}

func syncDirectory(path string) error {
	d, err := os.Open(path) //nolint:gosec // the directory of a file that we wrote
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// removed removes files that need not be there.
func removed(files ...string) error {
	var faults []error
	for _, file := range files {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
