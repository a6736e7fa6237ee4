package file

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// maxLinks is the maximum number of symbolic links that are followed for a path, the same as in Linux.
const maxLinks = 40

// leadsToHidden reports whether a path below a root resolves, through symbolic links, to a name that listings
// hide. Dangling links and links out of the root are left to os.Root, which rejects them.
func leadsToHidden(root *os.Root, name string) bool {
	at, links := ".", 0
	segments := strings.Split(name, "/")
	for len(segments) > 0 {
		segment := segments[0]
		segments = segments[1:]
		switch {
		case segment == "" || segment == ".":
			continue
		case segment == "..":
			at = path.Dir(at)
			continue
		case isHidden(segment):
			return true
		}
		at = path.Join(at, segment)
		info, err := root.Lstat(at)
		if err != nil {
			return false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := root.Readlink(at)
		if links++; err != nil || path.IsAbs(target) || links > maxLinks {
			return false
		}
		at, segments = path.Dir(at), append(strings.Split(target, "/"), segments...)
	}
	return false
}
