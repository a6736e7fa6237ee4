package observe

import (
	"path/filepath"
	"syscall"
)

// FreeSpace returns the free space, in bytes, of the file system that contains path.
func FreeSpace(path string) (int64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &s); err != nil || s.Blocks == 0 {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true //nolint:gosec // it fits
}
