package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
)

// Restore makes a backup the store in a file. It is compared with its digest, copied, brought to the schema of this version,
// and passed to verify, before anything changes. What was in the file is kept under the name that
// Restore returns, "" where there was none. Another process that uses the file is registry.ErrNoStore.
func Restore(ctx context.Context, path, backup string, verify func(*Store) error) (kept string, err error) {
	return restore(ctx, path, func(to string) error { return copyFile(ctx, path, to, backup) }, verify)
}

// RestoreInto is Restore of a store that is empty at first, and that fill fills.
func RestoreInto(ctx context.Context, path string, fill func(*Store) error) (kept string, err error) {
	return restore(ctx, path, func(to string) error {
		f, err := newFileFor(path, to)
		if err != nil {
			return err
		}
		return f.Close()
	}, fill)
}

// restore has a file made, the store in it verified, and puts it in the place of another.
func restore(ctx context.Context, path string, make func(to string) error, verify func(*Store) error) (kept string, err error) {
	copied := path + ".restore"
	if err := make(copied); err != nil {
		return "", fmt.Errorf("copying the backup: %w", errors.Join(err, removed(copied)))
	}
	if err = verified(ctx, copied, verify); err == nil {
		kept, err = replace(ctx, path, copied)
	}
	if err != nil {
		return "", errors.Join(err, removed(copied, copied+"-wal", copied+"-shm"))
	}
	return kept, nil
}

// verified brings a copy to the present schema, and verifies it.
func verified(ctx context.Context, path string, verify func(*Store) error) error {
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	if err := verify(s); err != nil {
		return errors.Join(err, s.Close())
	}
	return s.Close() // which moves the log into the file
}

// copyFile copies a backup to a file that will be the one in path.
func copyFile(ctx context.Context, path, to, from string) (err error) {
	in, err := os.Open(from) //nolint:gosec // whoever restores a backup says which
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := newFileFor(path, to)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := copyChecked(ctx, out, in, from); err != nil {
		return err
	}
	return out.Sync()
}

// newFileFor makes a file that will be the one in path: with its mode, which is that of its owner alone where it is new.
func newFileFor(path, to string) (*os.File, error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := newFile(to)
	if err != nil {
		return nil, err
	}
	giveToOwner(f, filepath.Dir(path))
	if err := f.Chmod(mode); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// replace replaces the store in a file, which no process may be using, and keeps it.
func replace(ctx context.Context, path, by string) (kept string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := setAside(path, path+".lost"); err != nil {
			return "", err
		}
		return "", errors.Join(os.Rename(by, path), syncDirectory(filepath.Dir(path)))
	}
	release, err := exclusive(ctx, path)
	if err != nil {
		return "", err
	}
	defer release()
	if kept, err = keep(path); err != nil {
		return "", fmt.Errorf("keeping the file that is there: %w", err)
	}
	if err := setAside(path, kept); err != nil {
		return "", err
	}
	return kept, errors.Join(os.Rename(by, path), syncDirectory(filepath.Dir(path)))
}

// setAside gives the logs of a file the name of another one: one that stayed beside a damaged file, or one that is lost, must not be
// applied to the file that takes its place.
func setAside(path, kept string) error {
	for _, beside := range []string{"-wal", "-journal"} {
		if err := os.Rename(path+beside, kept+beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return removed(path + "-shm")
}

// exclusive returns when nobody else uses a file, and keeps all others out until release is called. Its
// log is in the file then, unless that is damaged.
func exclusive(ctx context.Context, path string) (release func(), err error) {
	db, err := sqlite3.OpenContext(ctx, uriOf(path, "&mode=rw"))
	if err != nil {
		return nil, faultOf(path, err)
	}
	// The mode of the journal can only be changed by the only one who has the file open.
	if err = db.Exec("PRAGMA busy_timeout=0; PRAGMA journal_mode=delete; BEGIN EXCLUSIVE"); isAny(err, sqlite3.CORRUPT, sqlite3.NOTADB) {
		err = nil // nobody can use it
	}
	switch {
	case isAny(err, sqlite3.BUSY, sqlite3.LOCKED):
		return nil, errors.Join(fmt.Errorf("%w: another process uses %s: stop urnd first", registry.ErrNoStore, path), db.Close())
	case err != nil:
		return nil, errors.Join(faultOf(path, err), db.Close())
	}
	return func() { _ = db.Close() }, nil
}

// maxKept bounds how many replaced files are kept.
const maxKept = 1000

// keep gives a file a second name, so that there is one at path at any time.
func keep(path string) (string, error) {
	for i := 1; i <= maxKept; i++ {
		name := path + ".before-restore"
		if i > 1 {
			name = fmt.Sprintf("%s-%d", name, i)
		}
		if err := os.Link(path, name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", fmt.Errorf("there are %d files of earlier restores: remove those that are not needed", maxKept)
}
