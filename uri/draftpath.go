package uri

import (
	"errors"
	"strings"
)

var errSurplus = errors.New("reference climbs above the root")

// draftPath applies step 6 c to g of draft-fielding-uri-syntax-02 section 5.2 to a path.
func draftPath(path string, p Profile) (string, error) {
	root, segments, surplus := draftSegments(path)
	switch {
	case surplus > 0 && p == DraftRefuse:
		return "", errSurplus
	case p == DraftRemove:
		segments = segments[surplus:]
	}
	return root + strings.Join(segments, "/"), nil
}

// draftSegments applies step 6 c to f, with the stack of segments that the draft itself suggests as a faster
// implementation. It returns the root, "/" or "", the remaining segments, and how many leading ones are "..".
func draftSegments(path string) (root string, stack []string, surplus int) {
	if strings.HasPrefix(path, "/") {
		root, path = "/", path[1:]
	}
	segments := strings.Split(path, "/")
	stack = segments[:0]
	for i, segment := range segments {
		last := i == len(segments)-1
		switch {
		case segment == ".":
			if last {
				stack = append(stack, "")
			}
		case segment == ".." && len(stack) > surplus:
			stack = stack[:len(stack)-1]
			if last {
				stack = append(stack, "")
			}
		case segment == "..":
			stack = append(stack, segment)
			surplus++
		case segment == "" && len(stack) == 0 && root == "" && !last:
			root = "/" // no segment remains before this slash, so the path starts with it
		default:
			stack = append(stack, segment)
		}
	}
	return root, stack, surplus
}
