package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// A file is not created if there is evidence that it existed before.
func TestLost(t *testing.T) {
	for _, c := range []struct{ trace, message string }{
		{"registry.db-wal", "registry.db-wal shows"},
		{"registry.db-shm", "registry.db-shm shows"},
		{"registry.db-journal", "registry.db-journal shows"},
		{"registry.db.before-restore", "before-restore shows"},
		{"registry.db.sha256", "sha256 shows"},
		{"registry-file", "registry-file shows"},
		{"other.db-wal", ""},
		{"registry.db.restore", ""},
		{"", ""},
	} {
		t.Run(c.trace, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "registry.db")
			if c.trace != "" {
				if err := os.WriteFile(filepath.Join(dir, c.trace), []byte(path+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := sqlite.Open(t.Context(), path)
			if c.message != "" {
				wantFailure(t, err, registry.ErrUnavailable, path, c.message, "urnd registry restore", "move")
				for e := err; e != nil; e = errors.Unwrap(e) {
					if errors.Unwrap(e) == registry.ErrUnavailable && strings.Contains(e.Error(), path) { //nolint:errorlint // identity is intended
						t.Errorf("clients would see the path: %v", e)
					}
				}
				if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("it was made: %v", err)
				}
				return
			}
			if err != nil || !s.Created() {
				t.Fatalf("it was not made: %v", err)
			}
			closed(t, s)
			s = open(t, path)
			defer closed(t, s)
			if s.Created() {
				t.Error("it was made twice")
			}
		})
	}
}

// A directory remembers a single file, which may be elsewhere.
func TestRemember(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	path, other := filepath.Join(dir, "registry.db"), filepath.Join(dir, "other.db")
	for range 2 {
		if err := sqlite.RecordPath(path, state); err != nil {
			t.Fatal(err)
		}
	}
	if err := sqlite.CheckLost(path, "", state); !errors.Is(err, registry.ErrUnavailable) ||
		!strings.Contains(err.Error(), state) {
		t.Errorf("a file that is remembered: %v", err)
	}
	if err := errors.Join(sqlite.CheckLost(other, state), sqlite.CheckLost(path),
		sqlite.CheckLost(path, t.TempDir())); err != nil {
		t.Errorf("one that is not: %v", err)
	}
	closed(t, open(t, path))
	if err := sqlite.CheckLost(path, state); err != nil {
		t.Errorf("one that is there: %v", err)
	}
}

// A restore resolves the error: the log of the lost file is not applied to the backup.
func TestRestoreLost(t *testing.T) {
	path := filled(t, 10)
	s := open(t, path)
	file := filepath.Join(t.TempDir(), "backup.db")
	closed(t, backedUp(t, s, file))
	if err := write(t, s, 10, 20); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	closed(t, s)
	if err := errors.Join(err, os.WriteFile(path+"-wal", log, 0o600), os.Remove(path)); err != nil || len(log) == 0 {
		t.Fatalf("a log of %d bytes, %v", len(log), err)
	}
	if _, err := sqlite.Open(t.Context(), path); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("opening it: %v", err)
	}
	if _, err := sqlite.Restore(t.Context(), path, file, func(*sqlite.Store) error { return nil }); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	defer closed(t, s)
	if head, err := s.Head(t.Context()); head != 10 || err != nil {
		t.Errorf("the restored store has %d versions, %v, and the backup 10", head, err)
	}
	if left, err := os.ReadFile(path + ".lost-wal"); string(left) != string(log) || err != nil {
		t.Errorf("the log is %d bytes now, %v", len(left), err)
	}
}
