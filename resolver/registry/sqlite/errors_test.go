package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closed(t testing.TB, s *sqlite.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func testName(i int) registry.Key { return registry.Name(fmt.Sprintf("urn:example:%08d", i)) }

// write registers names in one transaction.
func write(t testing.TB, s *sqlite.Store, from, to int) error {
	t.Helper()
	return s.Write(t.Context(), func(tx registry.WriteTx) error {
		b := registry.NewBatch(tx, "test", time.UnixMilli(1_900_000_000_000).UTC())
		for i := from; i < to; i++ {
			record := registry.Record{Targets: []registry.Target{{
				URI:  fmt.Sprintf("https://example.org/%d", i),
				Note: strings.Repeat("n", 500),
			}}}
			if _, _, err := b.Put(testName(i), record, ""); err != nil {
				return err
			}
		}
		_, err := b.Flush()
		return err
	})
}

// filled returns the path of a closed store with n names.
func filled(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	s := open(t, path)
	if err := write(t, s, 0, n); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	return path
}

// wantFailure checks that an error is of a kind, and contains the path of the file and the advice.
func wantFailure(t *testing.T, err, kind error, texts ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("the error is %v, want %v", err, kind)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error %q does not say %q", err, text)
		}
	}
}

func TestFileErrors(t *testing.T) {
	sql := func(text string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sqlite3.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	overwrite := func(from int64, text string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt([]byte(text), from); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name    string
		do      func(t *testing.T, path string)
		kind    error
		message string
	}{
		{
			"newer schema", sql("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)"),
			registry.ErrSchema, "has schema 99",
		},
		{"another program's", sql("PRAGMA application_id=7"), registry.ErrUnavailable, "another program"},
		{"not a database", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, registry.ErrDamaged, "restore a backup"},
		{"header overwritten", overwrite(0, strings.Repeat("x", 100)), registry.ErrDamaged, "restore a backup"},
		{"schema overwritten", overwrite(100, strings.Repeat("x", 3900)), registry.ErrDamaged, "restore a backup"},
		{"a directory", func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, registry.ErrUnavailable, "directory"},
		{"no directory", func(t *testing.T, path string) {
			if err := os.RemoveAll(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
		}, registry.ErrUnavailable, "create its directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filled(t, 100)
			c.do(t, path)
			before, _ := os.ReadFile(path)
			s, err := sqlite.Open(t.Context(), path)
			if err == nil {
				s.Close()
			}
			wantFailure(t, err, c.kind, path, c.message)
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

// Overwritten or missing pages in the middle of the file are reported where they are needed, by an error and by
// Verify; other pages remain readable.
func TestDamagedPages(t *testing.T) {
	for name, damage := range map[string]func(f *os.File, size int64) error{
		"overwritten": func(f *os.File, size int64) error {
			_, err := f.WriteAt([]byte(strings.Repeat("damaged!", int(size/4096/2)*4096/8)), size/4/4096*4096)
			return err
		},
		"truncated": func(f *os.File, size int64) error { return f.Truncate(size / 2 / 4096 * 4096) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t, 3000)
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			info, _ := f.Stat()
			if err := damage(f, info.Size()); err != nil {
				t.Fatal(err)
			}
			f.Close()
			s, err := sqlite.Open(t.Context(), path)
			if err != nil {
				wantFailure(t, err, registry.ErrDamaged, path)
				return
			}
			defer s.Close()
			var damaged error
			for i := range 3000 {
				if _, err := s.Lookup(t.Context(), testName(i)); err != nil {
					damaged = err
				}
			}
			wantFailure(t, damaged, registry.ErrDamaged, path, "restore a backup")
			var failures []string
			if err := s.Verify(t.Context(), func(failure string) { failures = append(failures, failure) },
				func(_, _ registry.Seq) {}); err != nil {
				t.Error(err)
			}
			if len(failures) == 0 {
				t.Error("Verify finds no problem")
			}
		})
	}
}

// asOther is an environment variable of the child process that opens a store as another user.
const asOther = "TEST_OPEN_STORE"

// TestOpenAsOther runs in the child process of TestPermissions.
func TestOpenAsOther(t *testing.T) {
	path := os.Getenv(asOther)
	if path == "" {
		t.Skip("it is a part of TestPermissions")
	}
	s, err := sqlite.Open(t.Context(), path)
	if err == nil {
		err = errors.Join(write(t, s, 1000, 1001), s.Close())
	}
	t.Logf("the error is %v", err)
}

func TestPermissions(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	const user = 61234
	for _, c := range []struct {
		name              string
		directory, file   os.FileMode
		owner             int
		want, readOnlyDir string
	}{
		{"all may be written", 0o755, 0o600, user, "the error is <nil>", ""},
		{"a file of somebody else", 0o777, 0o644, 0, "allow the user of urnd to write", ""},
		{"a file that must not be read", 0o777, 0o600, 0, "allow the user of urnd to write", ""},
		{"a directory of somebody else", 0o755, 0o600, user, "allow the user of urnd to write", "yes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, err := os.MkdirTemp("", "registry")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(base) })
			path := filepath.Join(base, "registry.db")
			closed(t, open(t, path))
			dirOwner := c.owner
			if c.readOnlyDir != "" {
				dirOwner = 0
			}
			err = errors.Join(os.Chown(path, c.owner, c.owner), os.Chmod(path, c.file),
				os.Chown(base, dirOwner, dirOwner), os.Chmod(base, c.directory))
			if err != nil {
				t.Fatal(err)
			}
			out := runAs(t, user, "^TestOpenAsOther$", asOther+"="+path)
			if !strings.Contains(out, c.want) || c.want != "the error is <nil>" && !strings.Contains(out, path) {
				t.Errorf("want %q, and the path, in: %s", c.want, out)
			}
		})
	}
}

// runAs runs a test of this binary as another user.
func runAs(t *testing.T, user uint32, test string, environment ...string) string {
	t.Helper()
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp("", "sqlite-test") // the directory of go test is accessible to its user only
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(f.Name()) })
	if _, err := f.Write(binary); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Chmod(0o755), f.Close()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(f.Name(), "-test.run="+test, "-test.v")
	cmd.Dir, cmd.Env = "/", append(os.Environ(), environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// A file with an older schema, here one without any table, is migrated.
func TestMigrated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a file?with #%20 odd name.db")
	if err := os.WriteFile(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if err := write(t, s, 0, 10); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o640 {
			t.Errorf("%s: %v, %v; want the mode of the file", name, info, err)
		}
	}
	closed(t, s)
	s = open(t, path)
	defer closed(t, s)
	if e, err := s.Lookup(t.Context(), testName(9)); !e.Exists() || err != nil {
		t.Errorf("%+v, %v", e, err)
	}
}

// Several processes may create a file at the same time.
func TestMadeTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	for range 3 {
		path := filepath.Join(t.TempDir(), "registry.db")
		done := make(chan error, 4)
		for range cap(done) {
			go func() {
				s, err := sqlite.Open(t.Context(), path)
				if err == nil {
					err = s.Close()
				}
				done <- err
			}()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v; want a file for its owner alone", info, err)
		}
	}
}
