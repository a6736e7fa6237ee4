package sqlite

import (
	"path/filepath"
	"syscall"
)

// minFreeSpace is the free space, in bytes, below which a file system counts as full.
const minFreeSpace = 1 << 20

// readOnly is ST_RDONLY of statfs(2).
const readOnly = 1

// isReadOnly reports whether the file system of a file is read-only.
func isReadOnly(path string) bool {
	var s syscall.Statfs_t
	return syscall.Statfs(filepath.Dir(path), &s) == nil && s.Flags&readOnly != 0
}

// isFull reports whether the file system of a file is full. It is needed because SQLite discards the errno of
// most failed writes.
func isFull(path string) bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &s); err != nil {
		return false
	}
	return s.Blocks > 0 && s.Bavail*uint64(s.Bsize) < minFreeSpace //nolint:gosec // the size of a block is positive
}
