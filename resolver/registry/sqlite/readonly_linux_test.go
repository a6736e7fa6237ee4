package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// reads looks up all names, by each method for reading.
func reads(t *testing.T, s *sqlite.Store, n int) {
	t.Helper()
	for i := range n + 1 {
		if e, err := s.Lookup(t.Context(), testName(i)); err != nil || e.Exists() != (i < n) {
			t.Errorf("of %d names, number %d: %+v, %v", n, i, e, err)
		}
	}
	if head, err := s.Head(t.Context()); int(head) != n || err != nil {
		t.Errorf("the head of %d is %d, %v", n, head, err)
	}
	if _, err := s.Floor(t.Context(), "urn:example:1"); err != nil {
		t.Error(err)
	}
	if failures := failuresOf(t, s); len(failures) > 0 {
		t.Errorf("faults: %q", failures)
	}
	closed(t, backedUp(t, s, filepath.Join(t.TempDir(), "backup.db")))
}

// A store on a full or read-only file system is opened read-only; once it becomes writable, it must be opened
// again.
func TestOpenWithoutRoom(t *testing.T) {
	remount := func(t *testing.T, dir string, flags uintptr) {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size=4m"); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		end     func(t *testing.T, dir string) (again func())
		message string
	}{
		"full": {func(t *testing.T, dir string) func() { return testserver.Fill(t, dir) }, "no space left"},
		"read-only": {func(t *testing.T, dir string) func() {
			remount(t, dir, syscall.MS_RDONLY)
			return func() { remount(t, dir, 0) }
		}, "read-only"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testserver.SmallDisk(t)
			path := filepath.Join(dir, "registry.db")
			s := open(t, path)
			if err := errors.Join(s.ReadOnlyErr(), write(t, s, 0, 100)); err != nil {
				t.Fatal(err)
			}
			closed(t, s)
			again := c.end(t, dir)
			s = open(t, path)
			reads(t, s, 100)
			other := open(t, path) // like a second process
			reads(t, other, 100)
			closed(t, other)
			wantFailure(t, s.ReadOnlyErr(), registry.ErrUnavailable, path, c.message)
			wantFailure(t, write(t, s, 100, 101), registry.ErrUnavailable, path, c.message)
			reads(t, s, 100)
			again()
			_, err := s.Lookup(t.Context(), testName(1))
			_, headErr := s.Head(t.Context())
			for _, err := range []error{
				err, headErr, write(t, s, 100, 101),
				s.Read(t.Context(), func(registry.Tx) error { return nil }),
			} {
				wantFailure(t, err, registry.ErrReopen, path)
			}
			closed(t, s)
			s = open(t, path)
			defer closed(t, s)
			if err := errors.Join(s.ReadOnlyErr(), write(t, s, 100, 101)); err != nil {
				t.Error(err)
			}
			reads(t, s, 101)
		})
	}
}

// A log left behind by a killed process is read as well.
func TestOpenWithoutRoomAfterKill(t *testing.T) {
	dir, whole := testserver.SmallDisk(t), filled(t, 100)
	s := open(t, whole)
	if err := s.Write(t.Context(), func(tx registry.WriteTx) error {
		return tx.Put(registry.TableMarks, []registry.Document{{Key: "test", Value: []byte("in the log")}})
	}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "registry.db")
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(whole + end)
		if err != nil || len(data) == 0 {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		if err := os.WriteFile(path+end, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, s)
	testserver.Fill(t, dir)
	s = open(t, path)
	defer closed(t, s)
	reads(t, s, 100)
	err := s.Read(t.Context(), func(tx registry.Tx) error {
		value, err := tx.Document(registry.TableMarks, "test")
		if string(value) != "in the log" {
			t.Errorf("the document is %q", value)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
