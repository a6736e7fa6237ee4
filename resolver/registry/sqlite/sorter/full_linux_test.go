package sorter_test

import (
	"bytes"
	"errors"
	"syscall"
	"testing"
)

// On a full disk, the error is ENOSPC.
func TestDiskFull(t *testing.T) {
	directory := t.TempDir()
	if err := syscall.Mount("tmpfs", directory, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("mounting needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(directory, syscall.MNT_DETACH) })
	s := newSorter(t, directory)
	record := bytes.Repeat([]byte("x"), 1<<10)
	for range 100_000 {
		if err := s.Add(record); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("got %v", err)
			}
			return
		}
	}
	t.Error("100 MiB were written into 2 MiB")
}
