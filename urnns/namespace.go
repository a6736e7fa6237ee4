// Package urnns has the rules of URN namespaces: which names of a namespace are equivalent, which are well
// formed, and to which locations they resolve. Rows of data (Namespace, also of the IANA registry) and URNs of
// package uri enter; canonical names, locations and errors of type *uri.ParseError leave. The code is the same
// for all namespaces but for checks such as check digits.
//
// Rules may make more names equivalent than RFC 8141 does, but never fewer (RFC 8141 section 3.1).
package urnns

import "fmt"

// Fold is the part of an NSS in which case is insignificant. The zero value is FoldNone.
type Fold uint8

// The folds of namespaces. All of them make percent-encodings upper case.
const (
	FoldNone   Fold = iota
	FoldLower       // whole NSS, to lower case
	FoldUpper       // whole NSS, to upper case
	FoldPrefix      // part before the first hyphen, or before the first colon if there is no hyphen, to lower case
	FoldFirst       // part before the first colon, to lower case
)

var foldNames = [...]string{"none", "lower", "upper", "prefix", "first"}

// String returns the name of the fold in configurations.
func (f Fold) String() string { return foldNames[f] }

// ParseFold returns the fold with a name; the empty name is FoldNone.
func ParseFold(name string) (Fold, bool) {
	if name == "" {
		return FoldNone, true
	}
	for i, known := range foldNames {
		if known == name {
			return Fold(i), true
		}
	}
	return FoldNone, false
}

// UnmarshalText parses the name of a fold in data files.
func (f *Fold) UnmarshalText(text []byte) error {
	fold, ok := ParseFold(string(text))
	if !ok {
		return fmt.Errorf("unknown fold %q", text)
	}
	*f = fold
	return nil
}

// Namespace is one row: a URN namespace and its rules. The zero value of every field except NID adds nothing to
// RFC 8141. Rows must not be modified after NewSet.
type Namespace struct {
	NID   string `json:"nid"` // in lower case
	Fold  Fold   `json:"fold"`
	Strip string `json:"strip"` // insignificant bytes, such as "-"
	// Check is the name of NSS rules that no other field expresses, one of lookupCheck. "" means none.
	Check string `json:"check"`
	// Lenient accepts names that fail Check; Set.Warning returns the error as a warning.
	Lenient bool `json:"lenient"`
	// LenientDigits accepts names of which only the check digit fails Check; Set.Warning returns the error as a
	// warning.
	LenientDigits bool `json:"lenientDigits"`
	// Pattern, if set, must match the canonical NSS (RE2 syntax).
	Pattern string   `json:"pattern"`
	Targets []Target `json:"targets"`
	Source  string   `json:"source"` // specifications with the rules, for people
	// Title and Description of the namespace, in English, for people; may be "".
	Title       string `json:"title"`
	Description string `json:"description"`
	// Example is a name of the namespace, for people; "" for none.
	Example string `json:"example"`
}

// Target is a location to which names of a namespace resolve.
type Target struct {
	// Pattern selects names by their canonical NSS (RE2 syntax); "" selects all. Its named groups are variables
	// of Template.
	Pattern string `json:"pattern"`
	// Template is a URI template (RFC 6570). Its variables are the named groups of the patterns; urn, nid and
	// nss of the canonical name; and c, the value of that directive, which may be undefined.
	Template string `json:"template"`
	// Type and Language are the media type and the language tag (RFC 5646) of the resources there; "" if
	// unknown.
	Type     string `json:"type"`
	Language string `json:"language"`
	// Rel is the relation type of the link from the name to the location (RFC 8288), Title its title, and
	// Context its audience. A name does not resolve to a location with a relation such as "describedby": see
	// uri.RelationResolves. All may be "".
	Rel     string `json:"rel"`
	Title   string `json:"title"`
	Context string `json:"context"`
	// Gone means that the names no longer resolve; Template is empty then.
	Gone bool `json:"gone"`
}

// ResolvedTarget is a location to which a name resolves, or that it links to.
type ResolvedTarget struct {
	URI    string
	Target int // index in Namespace.Targets
}
