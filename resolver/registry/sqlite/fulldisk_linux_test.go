package sqlite_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// On a full disk, the write that does not fit fails. All earlier writes are preserved, and writing succeeds
// again once there is free space.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("mounting needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	path := filepath.Join(dir, "registry.db")
	s := open(t, path)
	defer closed(t, s)
	written := 0
	var full error
	for full == nil && written < 100_000 {
		if full = write(t, s, written, written+10); full == nil {
			written += 10
		}
	}
	wantFailure(t, full, registry.ErrUnavailable, path, "no space left")
	check := func(n int) {
		t.Helper()
		for i := range n + 10 {
			e, err := s.Lookup(t.Context(), testName(i))
			if err != nil || e.Exists() != (i < n) {
				t.Fatalf("of %d names, number %d: %+v, %v", n, i, e, err)
			}
		}
	}
	check(written)
	wantFailure(t, write(t, s, written, written+1000), registry.ErrUnavailable, "no space left")
	check(written)
	if _, err := sqlite.Open(t.Context(), filepath.Join(dir, "other.db")); err == nil {
		t.Error("a database was made on a full disk")
	} else {
		wantFailure(t, err, registry.ErrUnavailable, "other.db", "no space left")
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	if err := write(t, s, written, written+1000); err != nil {
		t.Fatalf("writing after there is room again: %v", err)
	}
	check(written + 1000)
	if err := s.Verify(t.Context(), func(failure string) { t.Error(failure) }, func(_, _ registry.Seq) {}); err != nil {
		t.Error(err)
	}
}
