// Package urnns has the rules of URN namespaces: which names of a namespace are
// equivalent, which are well formed, and to which locations they resolve. A
// namespace is a row of data; the code is the same for all.
//
// Rules may make more names equivalent than RFC 8141 does, but never fewer
// (RFC 8141 section 3.1).
package urnns

import "fmt"

// Fold says in which part of an NSS case does not count. The zero value is
// FoldNone.
type Fold uint8

// The ways in which namespaces fold case. Each of them makes percent-encodings upper
// case.
const (
	FoldNone   Fold = iota
	FoldLower       // the whole NSS, to lower case
	FoldUpper       // the whole NSS, to upper case
	FoldPrefix      // the part before the first hyphen, or before the first colon if there is no hyphen, to lower case
	FoldFirst       // the part before the first colon, to lower case
)

var foldNames = [...]string{"none", "lower", "upper", "prefix", "first"}

// String returns the name of the fold, as configurations write it.
func (f Fold) String() string { return foldNames[f] }

// ParseFold returns the fold of a name; the empty name is FoldNone.
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

// UnmarshalText reads a fold as data files write it.
func (f *Fold) UnmarshalText(text []byte) error {
	fold, ok := ParseFold(string(text))
	if !ok {
		return fmt.Errorf("unknown fold %q", text)
	}
	*f = fold
	return nil
}

// Namespace is one row: a URN namespace and its rules. The zero value of every
// field but NID adds nothing to RFC 8141. Rows are data: do not change them
// after NewSet.
type Namespace struct {
	NID   string `json:"nid"` // lower case
	Fold  Fold   `json:"fold"`
	Strip string `json:"strip"` // octets that do not count, such as "-"
	// Check names the rules of an NSS that no other field expresses: "ddi", "eidr", "gsma",
	// "ietf", "isan", "isbn", "isni", "issn", "lei", "lex", "nbn", "oid", "smpte" or "uuid". Empty adds none.
	Check string `json:"check"`
	// Lenient accepts the names that Check refuses; Set.Doubt returns the error.
	Lenient bool `json:"lenient"`
	// LenientDigits accepts the names of which Check refuses no more than the check digit; Set.Doubt returns the error.
	LenientDigits bool `json:"lenientDigits"`
	// Pattern, where set, must match the canonical NSS (RE2 syntax).
	Pattern string   `json:"pattern"`
	Targets []Target `json:"targets"`
	Source  string   `json:"source"` // the documents with the rules, for people
	// Title and Description say what the names are for, in English, for people; "" where nothing is said.
	Title       string `json:"title"`
	Description string `json:"description"`
	// Example is a name of the namespace, for people; "" for none.
	Example string `json:"example"`
}

// Target is one location to which names of a namespace resolve.
type Target struct {
	// Pattern selects names by their canonical NSS (RE2 syntax); empty
	// selects all. Its named groups are variables of Template.
	Pattern string `json:"pattern"`
	// Template is a URI template (RFC 6570). Its variables are the named groups
	// of the patterns; urn, nid and nss of the canonical name; and c, the value
	// of that directive, which may be undefined.
	Template string `json:"template"`
	// Type and Language are the media type and the language tag (RFC 5646) of the
	// resources there; empty if unknown.
	Type     string `json:"type"`
	Language string `json:"language"`
	// Rel is the relation type of the link from the name to the location (RFC 8288), Title its title, and Context for whom it is. A name
	// does not lead to a location with a relation such as "describedby": see uri.Leads. All are empty if nothing is said.
	Rel     string `json:"rel"`
	Title   string `json:"title"`
	Context string `json:"context"`
	// Gone says that the names no longer resolve; Template is empty then.
	Gone bool `json:"gone"`
}

// Lead is a location to which a name resolves.
type Lead struct {
	URI    string
	Target int // index in Namespace.Targets
}
