package sqlite

import (
	"path/filepath"
	"syscall"
)

// leastRoom is the room, in octets, with less of which a file system is full for a database.
const leastRoom = 1 << 20

// readOnly is ST_RDONLY of statfs(2).
const readOnly = 1

// isReadOnly reports whether the file system of a file cannot be written to.
func isReadOnly(path string) bool {
	var s syscall.Statfs_t
	return syscall.Statfs(filepath.Dir(path), &s) == nil && s.Flags&readOnly != 0
}

// isFull reports whether the file system of a file has no more room. What SQLite was told is
// lost on its way: of most writes that fail it only keeps that they have failed.
func isFull(path string) bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &s); err != nil {
		return false
	}
	return s.Blocks > 0 && s.Bavail*uint64(s.Bsize) < leastRoom //nolint:gosec // the size of a block is positive
}
