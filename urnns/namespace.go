// Package urnns is what urnd knows of URN namespaces: which names of a
// namespace are one, which are well formed, and where they lead. A namespace
// is a row of data; behaviour is the same for all.
//
// Rules only ever merge names that RFC 8141 keeps apart; they never separate
// names that it calls equivalent (RFC 8141 section 3.1).
package urnns

import "fmt"

// Fold says which letters of an NSS have no case.
type Fold uint8

// The ways in which namespaces fold case. Percent-encodings are upper case in
// every one of them.
const (
	FoldNone   Fold = iota
	FoldLower       // the whole NSS, to lower case
	FoldUpper       // the whole NSS, to upper case
	FoldPrefix      // what stands before the first hyphen, or colon where there is none, to lower case
	FoldFirst       // what stands before the first colon, to lower case
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
		return fmt.Errorf("there is no fold %q", text)
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
	// Check names what verifies an NSS: "eidr", "ietf", "isan", "isbn",
	// "issn", "lei", "nbn", "oid" or "uuid". Empty accepts every NSS.
	Check string `json:"check"`
	// Lenient accepts the names that Check refuses; Set.Doubt says so of them.
	Lenient bool `json:"lenient"`
	// Pattern, where set, must match the canonical NSS (RE2 syntax).
	Pattern string   `json:"pattern"`
	Targets []Target `json:"targets"`
	Source  string   `json:"source"` // where the rules stand, for a person
}

// Target is one place to which names of a namespace lead.
type Target struct {
	// Pattern selects names by their canonical NSS (RE2 syntax); empty
	// selects all. Its named groups are variables of Template.
	Pattern string `json:"pattern"`
	// Template is a URI template (RFC 6570). Beside the groups of the
	// patterns it knows urn, nid and nss, all of the canonical name, and c, the
	// value of that directive, which may be undefined.
	Template string `json:"template"`
	// Type and Language are those of the things there, a media type and a tag of RFC
	// 5646; empty where they are not known.
	Type     string `json:"type"`
	Language string `json:"language"`
	// Gone is that the names lead nowhere any more: there is no template then.
	Gone bool `json:"gone"`
}

// Lead is where a name leads.
type Lead struct {
	URI    string
	Target int // the row of Namespace.Targets that says so
}
