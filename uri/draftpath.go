package uri

import (
	"errors"
	"strings"
)

var errSurplus = errors.New("reference climbs above the root")

// draftPath is step 6 c to g of draft-fielding-uri-syntax-02 section 5.2, as
// the stack of segments that the draft itself offers as a faster way.
func draftPath(path string, p Profile) (string, error) {
	root := ""
	if strings.HasPrefix(path, "/") {
		root, path = "/", path[1:]
	}
	segments := strings.Split(path, "/")
	kept := segments[:0]
	surplus := 0 // ".." segments at the start of kept
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
			if p == DraftRefuse {
				return "", errSurplus
			}
			if p == Draft {
				kept = append(kept, segment)
				surplus++
			} else if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, segment)
		}
	}
	return root + strings.Join(kept, "/"), nil
}
