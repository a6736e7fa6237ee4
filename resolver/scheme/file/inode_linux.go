package file

import (
	"io/fs"
	"syscall"
	"time"
)

// inodeOf returns the number of the inode of a file, and when it was changed last, which, other than the time
// of its content, no program can set.
func inodeOf(info fs.FileInfo) (uint64, time.Time) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, info.ModTime()
	}
	return stat.Ino, time.Unix(stat.Ctim.Unix())
}
