package registry

import (
	"errors"
	"strings"

	"github.com/urnd/urnd/resolver"
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

// Leads reports whether the name itself leads to the target. Others are only named with it.
func (t Target) Leads() bool { return resolver.Leads(t.Rel) }
