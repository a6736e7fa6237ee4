package disk

import (
	"io/fs"
	"syscall"
	"time"
)

// inodeOf returns which file it is, and when it was changed last: its content, size, names, owner or mode.
func inodeOf(info fs.FileInfo) (device, number uint64, changed time.Time) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, info.ModTime()
	}
	return stat.Dev, stat.Ino, time.Unix(stat.Ctim.Unix())
}
