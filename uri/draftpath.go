package uri

import (
	"errors"
	"strings"
)

var errSurplus = errors.New("reference climbs above the root")

// draftPath is step 6 c to g of draft-fielding-uri-syntax-02 section 5.2.
func draftPath(path string, p Profile) (string, error) {
	root, kept, surplus := draftSegments(path)
	switch {
	case surplus > 0 && p == DraftRefuse:
		return "", errSurplus
	case p == DraftRemove:
		kept = kept[surplus:]
	}
	return root + strings.Join(kept, "/"), nil
}

// draftSegments is step 6 c to f, as the stack of segments that the draft
// itself offers as a faster way. It returns the root, what is kept below it,
// and how many ".." that begins with.
func draftSegments(path string) (root string, kept []string, surplus int) {
	if strings.HasPrefix(path, "/") {
		root, path = "/", path[1:]
	}
	segments := strings.Split(path, "/")
	kept = segments[:0]
	for i, segment := range segments {
		last := i == len(segments)-1
		switch {
		case segment == ".":
			if last {
				kept = append(kept, "")
			}
		case segment == ".." && len(kept) > surplus:
			kept = kept[:len(kept)-1]
			if last {
				kept = append(kept, "")
			}
		case segment == "..":
			kept = append(kept, segment)
			surplus++
		case segment == "" && len(kept) == 0 && root == "" && !last:
			root = "/" // nothing is left before this slash, so the path begins with it
		default:
			kept = append(kept, segment)
		}
	}
	return root, kept, surplus
}
