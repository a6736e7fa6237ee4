package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
)

// Restore replaces the store in a file by a backup. The backup is first compared with its digest, copied,
// migrated to the current schema and passed to verify. The previous file is preserved under the name kept, ""
// if there was none. The error is registry.ErrUnavailable if another process uses the file.
func Restore(ctx context.Context, path, backup string, verify func(*Store) error) (kept string, err error) {
	return restore(ctx, path, func(to string) error { return copyFile(ctx, path, to, backup) }, verify)
}

// RestoreInto is Restore from an initially empty store, which fill fills.
func RestoreInto(ctx context.Context, path string, fill func(*Store) error) (kept string, err error) {
	return restore(ctx, path, func(to string) error {
		f, err := newFileFor(path, to)
		if err != nil {
			return err
		}
		return f.Close()
	}, fill)
}

// restore creates a file by make, verifies the store in it, and replaces the file at path by it.
func restore(
	ctx context.Context, path string, make func(to string) error, verify func(*Store) error,
) (kept string, err error) {
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

// verified migrates a copy to the current schema, and verifies it.
func verified(ctx context.Context, path string, verify func(*Store) error) error {
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	if err := verify(s); err != nil {
		return errors.Join(err, s.Close())
	}
	return s.Close() // copies the log into the file
}

// copyFile copies a backup to a file that will replace the one at path.
func copyFile(ctx context.Context, path, to, from string) (err error) {
	in, err := os.Open(from) //nolint:gosec // the path is an argument of the command
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

// newFileFor creates a file that will replace the one at path, with the same mode; 0600 if there is none.
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

// replace replaces the file at path, which no process may use, and preserves the previous one.
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
		return "", fmt.Errorf("keeping the existing file: %w", err)
	}
	if err := setAside(path, kept); err != nil {
		return "", err
	}
	return kept, errors.Join(os.Rename(by, path), syncDirectory(filepath.Dir(path)))
}

// setAside renames the logs of a file: logs left beside a damaged or lost file must not be applied to the file
// that replaces it.
func setAside(path, kept string) error {
	for _, beside := range []string{"-wal", "-journal"} {
		if err := os.Rename(path+beside, kept+beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return removed(path + "-shm")
}

// exclusive acquires exclusive access to a file until release is called, and copies its log into the file,
// unless the file is damaged.
func exclusive(ctx context.Context, path string) (release func(), err error) {
	db, err := sqlite3.OpenContext(ctx, uriOf(path, "&mode=rw"))
	if err != nil {
		return nil, failureOf(path, err)
	}
	// The journal mode can be changed only by the sole process that has the file open.
	if err = db.Exec("PRAGMA busy_timeout=0; PRAGMA journal_mode=delete; BEGIN EXCLUSIVE"); isAny(err, sqlite3.CORRUPT,
		sqlite3.NOTADB) {
		err = nil // a damaged file is of no use to another process
	}
	switch {
	case isAny(err, sqlite3.BUSY, sqlite3.LOCKED):
		return nil,
			errors.Join(fmt.Errorf("%w: another process uses %s: stop urnd first", errUnavailable, path),
				db.Close())
	case err != nil:
		return nil, errors.Join(failureOf(path, err), db.Close())
	}
	return func() { _ = db.Close() }, nil
}

// maxKept limits the number of preserved files.
const maxKept = 1000

// keep adds a second hard link to a file, so that path exists at all times.
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
	return "", fmt.Errorf("%d files of earlier restores: remove those no longer needed", maxKept)
}
