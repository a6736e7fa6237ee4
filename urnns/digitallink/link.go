package digitallink

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Link is an identifier: a primary key, and its qualifiers in order. It is immutable.
type Link struct {
	scheme     *Scheme
	key        *Key
	value      string
	qualifiers []Element
}

// Element is a code with its value, which is not percent-encoded.
type Element struct{ Code, Value string }

// Key returns the primary key.
func (l Link) Key() Element { return Element{l.key.Code, l.value} }

// Qualifiers returns the qualifiers, in order.
func (l Link) Qualifiers() []Element { return slices.Clone(l.qualifiers) }

// Path returns the identifier as a path, in normal form: "/01/09506000134352/10/ABC".
func (l Link) Path() string {
	var b strings.Builder
	for _, e := range append([]Element{l.Key()}, l.qualifiers...) {
		b.WriteString("/" + e.Code + "/" + uri.Escape(e.Value, ""))
	}
	return b.String()
}

// Label returns the identifier for people: "GTIN 09506000134352, lot ABC".
func (l Link) Label() string {
	parts := []string{l.key.Name + " " + l.value}
	for _, e := range l.qualifiers {
		if chain, at := l.key.qualifier(e.Code); chain >= 0 {
			parts = append(parts, l.key.Chains[chain][at].Name+" "+e.Value)
		}
	}
	return strings.Join(parts, ", ")
}

// Item returns the identifier without its qualifiers.
func (l Link) Item() Link { return l.at(nil) }

// Levels returns the identifiers at which links of this one are registered, the most specific first and the key
// alone last: GS1-Conformant Resolver standard section 2.5.9.
func (l Link) Levels() []Link {
	levels := make([]Link, 0, len(l.key.Levels)+1)
	for _, codes := range l.key.Levels {
		at := l.at(codes)
		if len(at.qualifiers) == len(codes) {
			levels = append(levels, at)
		}
	}
	return append(levels, l.at(nil))
}

// at returns the identifier with only those of its qualifiers whose code is in codes.
func (l Link) at(codes []string) Link {
	of := l
	of.qualifiers = nil
	for _, e := range l.qualifiers {
		if slices.Contains(codes, e.Code) {
			of.qualifiers = append(of.qualifiers, e)
		}
	}
	return of
}

// IsLevel reports whether links may be registered at the identifier itself: whether it is one of its Levels.
func (l Link) IsLevel() bool {
	codes := make([]string, 0, len(l.qualifiers))
	for _, e := range l.qualifiers {
		codes = append(codes, e.Code)
	}
	return len(codes) == 0 ||
		slices.ContainsFunc(l.key.Levels, func(level []string) bool { return slices.Equal(level, codes) })
}
