package file

import (
	"io/fs"
	"syscall"
	"time"
)

// inodeOf returns the inode number of a file and its change time (ctime), which, unlike the modification time,
// no program can set.
func inodeOf(info fs.FileInfo) (uint64, time.Time) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, info.ModTime()
	}
	return stat.Ino, time.Unix(stat.Ctim.Unix())
}
