//go:build !linux

package file

import (
	"io/fs"
	"time"
)

// inodeOf returns 0 and the modification time: the inode number and the change time are not portable.
func inodeOf(info fs.FileInfo) (uint64, time.Time) { return 0, info.ModTime() }
