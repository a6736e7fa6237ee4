package registry

import (
	"errors"
	"strings"

	"github.com/urnd/urnd/uri"
)

// maxRelation bounds a relation type, in octets.
const maxRelation = 256

var errRelation = errors.New("a relation is a relation type of RFC 8288 section 3.3: lower-case letters, digits, \".\" and \"-\", which begins with a " +
	"letter; or a URI, such as https://ref.gs1.org/voc/pip or gs1:pip")

// checkRelation checks a relation type, which may be "".
func checkRelation(rel string) error {
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
		u, err := uri.Parse(rel)
		if err == nil {
			err = u.Check()
		}
		if err != nil {
			return errRelation
		}
		return nil
	}
}

// Leads reports whether the name itself leads to the target: it is the thing, or what stands for it. Others are only named with it.
func (t Target) Leads() bool {
	switch t.Rel {
	case "", "item", "gs1:defaultLink", "https://ref.gs1.org/voc/defaultLink", "https://gs1.org/voc/defaultLink":
		return true
	default:
		return false
	}
}
