// Package cgroup reads the memory limits that Linux control groups (cgroups(7), versions 1 and 2) impose on
// this process: those of containers, and MemoryMax and MemoryHigh of systemd. The root of the file system
// enters as an fs.FS; a limit in bytes leaves.
package cgroup

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Memory returns the lowest memory limit of this process in bytes, or 0 for none. files is the root of the file
// system.
func Memory(files fs.FS) int64 {
	text, err := fs.ReadFile(files, "proc/self/cgroup")
	if err != nil {
		return 0 // not Linux, or no control groups
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

// Available returns the part of Memory to use as the memory limit of the Go runtime, in whole mebibytes. A
// tenth is reserved for memory that Go does not account for: socket buffers, the page cache and kernel tables.
func Available(files fs.FS) int64 {
	limit := Memory(files)
	const tenth, mebibyte = 10, 1 << 20
	return (limit - limit/tenth) &^ (mebibyte - 1)
}

// limitOf returns the lowest limit of a group and its ancestors, 0 for none. In a container the root may be the
// group itself, and the path of the group may not be visible.
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

// parse returns a limit, 0 for none: version 2 writes "max", and version 1 a number beyond any memory size.
func parse(text string) int64 {
	const none = 1 << 60
	limit, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || limit >= none {
		return 0
	}
	return limit
}

// atMost returns the lower of two limits; 0 is no limit.
func atMost(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
