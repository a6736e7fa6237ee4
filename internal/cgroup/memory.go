// Package cgroup reads the limits that Linux control groups put around this process: those of containers, and MemoryMax
// and MemoryHigh of systemd.
package cgroup

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Memory returns the least limit of the memory of this process in bytes, 0 where there is none. files is the root of the
// file system.
func Memory(files fs.FS) int64 {
	text, err := fs.ReadFile(files, "proc/self/cgroup")
	if err != nil {
		return 0 // no Linux, or no control groups
	}
	least := int64(0)
	for line := range strings.Lines(string(text)) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		switch { // cgroups(7)
		case id == "0" && controllers == "":
			least = atMost(least, limitOf(files, "sys/fs/cgroup", group, "memory.max", "memory.high"))
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			least = atMost(least, limitOf(files, "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"))
		}
	}
	return least
}

// Available returns what of Memory may be given to Go as its limit, in whole mebibytes. A tenth is for what Go does not count: buffers
// of sockets, pages of files, and tables of the kernel.
func Available(files fs.FS) int64 {
	limit := Memory(files)
	const tenth, mebibyte = 10, 1 << 20
	return (limit - limit/tenth) &^ (mebibyte - 1)
}

// limitOf returns the least limit of a group and of those that it is in, 0 for none. In a container the root may be its
// own group, and the path of the group be one that it does not see.
func limitOf(files fs.FS, root, group string, names ...string) (least int64) {
	for {
		group = path.Clean("/" + group)
		for _, name := range names {
			if text, err := fs.ReadFile(files, path.Join(root, group, name)); err == nil {
				least = atMost(least, parse(string(text)))
			}
		}
		if group == "/" {
			return least
		}
		group = path.Dir(group)
	}
}

// parse returns a limit, 0 for none: version 2 writes "max" for it, and version 1 a number that no machine has.
func parse(text string) int64 {
	const none = 1 << 60
	limit, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || limit >= none {
		return 0
	}
	return limit
}

// atMost returns the lesser of two limits, of which 0 is none.
func atMost(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
