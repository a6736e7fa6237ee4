package uri

import (
	"errors"
	"strings"
)

// maxRelation limits the length of a relation type, in bytes.
const maxRelation = 256

var errRelation = errors.New("a relation is a relation type of RFC 8288 section 3.3: lower-case letters, digits, " +
	"\".\" and \"-\", which begins with a letter; or a URI, such as https://ref.gs1.org/voc/pip or gs1:pip")

// CheckRelation returns an error unless rel is a relation type of RFC 8288 section 3.3, or "".
func CheckRelation(rel string) error {
	switch {
	case rel == "":
		return nil
	case len(rel) > maxRelation:
		return errRelation
	case !strings.Contains(rel, ":"):
		const letters = "abcdefghijklmnopqrstuvwxyz"
		if !strings.Contains(letters, rel[:1]) || strings.Trim(rel, letters+"0123456789.-") != "" {
			return errRelation
		}
		return nil
	default:
		u, err := Parse(rel)
		if err == nil {
			err = u.Check()
		}
		if err != nil {
			return errRelation
		}
		return nil
	}
}

// RelationResolves reports whether a name resolves to the target of a link with this relation type: the target is the
// resource itself (no relation type, "item"), its GS1 default link, or the resolver that handles the name.
func RelationResolves(rel string) bool {
	if rel == "" || rel == "item" {
		return true
	}
	// Terms of the GS1 Web Vocabulary, in all spellings: GS1-Conformant Resolver standard section 2.14.
	for _, beginning := range [...]string{
		"gs1:", "https://ref.gs1.org/voc/", "https://gs1.org/voc/",
		"http://ref.gs1.org/voc/", "http://gs1.org/voc/",
	} {
		if len(rel) > len(beginning) && EqualFold(rel[:len(beginning)], beginning) {
			term := rel[len(beginning):]
			return term == "defaultLink" || term == "handledBy"
		}
	}
	return false
}
