package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

func noProgress(int, int) {}

// failuresOf returns the problems that Verify reports.
func failuresOf(t *testing.T, s registry.Store) (failures []string) {
	t.Helper()
	if err := s.Verify(t.Context(), func(failure string) { failures = append(failures, failure) },
		func(_, _ registry.Seq) {}); err != nil {
		t.Error(err)
	}
	return failures
}

// backedUp creates a backup, and returns the store in it.
func backedUp(t *testing.T, s *sqlite.Store, file string) *sqlite.Store {
	t.Helper()
	if err := s.Backup(t.Context(), file, noProgress); err != nil {
		t.Fatal(err)
	}
	b, err := sqlite.OpenBackup(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if failures := failuresOf(t, b); len(failures) > 0 {
		t.Errorf("the backup is faulty: %q", failures)
	}
	return b
}

// A backup is a consistent snapshot in a single file, even if other connections write meanwhile.
func TestBackupBesideWriter(t *testing.T) {
	path := filled(t, 20_000)
	s, writer := open(t, path), open(t, path)
	defer closed(t, s)
	defer closed(t, writer)
	file, steps, written := filepath.Join(t.TempDir(), "backup.db"), 0, 20_000
	err := s.Backup(t.Context(), file, func(done, all int) {
		steps++
		if done > all {
			t.Errorf("%d of %d pages", done, all)
		}
		if err := write(t, writer, written, written+100); err != nil {
			t.Error(err)
		}
		written += 100
	})
	if err != nil || steps < 3 {
		t.Fatalf("%v after %d steps", err, steps)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 ||
		!slices.Equal(left, []string{file, sqlite.DigestFile(file)}) {
		t.Errorf("%v, %v, in %q; want one file for its owner alone, and its digest", info, err, left)
	}
	b, err := sqlite.OpenBackup(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, b)
	for i, want := range map[int]bool{0: true, 19_999: true, 20_000: false} {
		if e, err := b.Lookup(t.Context(), testName(i)); err != nil || e.Exists() != want {
			t.Errorf("name %d in the backup: %+v, %v", i, e, err)
		}
	}
	if failures := failuresOf(t, b); len(failures) > 0 {
		t.Errorf("faults: %q", failures)
	}
	if err := write(t, b, 0, 1); !errors.Is(err, registry.ErrUnavailable) {
		t.Errorf("writing to a backup: %v", err)
	}
}

func TestBackupBrokenOff(t *testing.T) {
	s := open(t, filled(t, 20_000))
	defer closed(t, s)
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(file, []byte("the last one"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Backup(ctx, file, func(int, int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if text, _ := os.ReadFile(file); string(text) != "the last one" || len(left) != 1 {
		t.Errorf("there are %q, with %q", left, text)
	}
	if err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "none", "b"), noProgress); err == nil {
		t.Error("a backup into no directory")
	}
}

func verify(t *testing.T) func(s *sqlite.Store) error {
	return func(s *sqlite.Store) error {
		if failures := failuresOf(t, s); len(failures) > 0 {
			return errors.New(strings.Join(failures, "; "))
		}
		return nil
	}
}

func TestRestore(t *testing.T) {
	path := filled(t, 100)
	s := open(t, path)
	backup := filepath.Join(t.TempDir(), "backup.db")
	closed(t, backedUp(t, s, backup))
	if err := write(t, s, 100, 200); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Restore(t.Context(), path, backup, verify(t))
	wantFailure(t, err, registry.ErrUnavailable, "another process uses "+path, "stop urnd")
	if e, err := s.Lookup(t.Context(), testName(150)); err != nil || !e.Exists() {
		t.Errorf("after a restore that was refused: %+v, %v", e, err)
	}
	closed(t, s)
	for i, want := range []string{".before-restore", ".before-restore-2"} {
		if kept, err := sqlite.Restore(t.Context(), path, backup, verify(t)); err != nil || kept != path+want {
			t.Fatalf("restore %d: %q, %v", i, kept, err)
		}
	}
	has := func(path string, n int) {
		t.Helper()
		s := open(t, path)
		defer closed(t, s)
		for i, want := range map[int]bool{n - 1: true, n: false} {
			if e, err := s.Lookup(t.Context(), testName(i)); err != nil || e.Exists() != want {
				t.Errorf("name %d: %+v, %v; want %v", i, e, err, want)
			}
		}
	}
	has(path, 100)
	has(path+".before-restore", 200)
	if left, _ := filepath.Glob(path + ".restore*"); len(left) > 0 {
		t.Errorf("there are %q", left)
	}
	elsewhere := filepath.Join(t.TempDir(), "new.db")
	if kept, err := sqlite.Restore(t.Context(), elsewhere, backup, verify(t)); err != nil || kept != "" {
		t.Fatalf("restoring where there is nothing: %q, %v", kept, err)
	}
	has(elsewhere, 100)
}

// A damaged store can be replaced, and its log is not applied to the new file. A damaged backup replaces
// nothing.
func TestRestoreDamaged(t *testing.T) {
	path := filled(t, 100)
	s := open(t, path)
	backup := filepath.Join(t.TempDir(), "backup.db")
	closed(t, backedUp(t, s, backup))
	if err := write(t, s, 100, 200); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil || len(log) == 0 {
		t.Fatalf("no log: %v", err)
	}
	closed(t, s)
	if err := errors.Join(os.WriteFile(path, []byte(strings.Repeat("damaged!", 8192)), 0o600),
		os.WriteFile(path+"-wal", log, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Restore(t.Context(), path, path, verify(t)); !errors.Is(err, registry.ErrDamaged) {
		t.Errorf("restoring a damaged backup: %v", err)
	}
	if _, err := sqlite.Restore(t.Context(), path, backup, verify(t)); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	defer closed(t, s)
	if failures := failuresOf(t, s); len(failures) > 0 {
		t.Errorf("faults: %q", failures)
	}
	if e, err := s.Lookup(t.Context(), testName(150)); err != nil || e.Exists() {
		t.Errorf("the log of the damaged file was applied: %+v, %v", e, err)
	}
}

// Stale files beside those that backups and restores create are not used: neither symbolic links nor logs.
func TestLeftOver(t *testing.T) {
	path := filled(t, 100)
	s := open(t, path)
	dir := t.TempDir()
	backup, mine := filepath.Join(dir, "backup.db"), filepath.Join(dir, "mine")
	err := errors.Join(os.WriteFile(mine, []byte("mine"), 0o600), os.Symlink(mine, backup+".new"),
		os.Symlink(mine, path+".restore"))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, backedUp(t, s, backup))
	if err := write(t, s, 100, 200); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil || len(log) == 0 {
		t.Fatalf("no log: %v", err)
	}
	closed(t, s)
	if err := os.WriteFile(path+".restore-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Restore(t.Context(), path, backup, verify(t)); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	defer closed(t, s)
	if e, err := s.Lookup(t.Context(), testName(150)); err != nil || e.Exists() {
		t.Errorf("the log that was left over was applied: %+v, %v", e, err)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("the file that a link leads to has %d bytes, %v", len(text), err)
	}
}
