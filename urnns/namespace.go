// Package urnns is what urnd knows of URN namespaces: which names of a
// namespace are one, which are well formed, and where they lead. A namespace
// is a row of data; behaviour is the same for all.
//
// Rules only ever merge names that RFC 8141 keeps apart; they never separate
// names that it calls equivalent (RFC 8141 section 3.1).
package urnns

import "github.com/urnd/urnd/uri"

// Fold says which letters of an NSS have no case.
type Fold uint8

// The ways in which namespaces fold case. Percent-encodings are upper case in
// every one of them.
const (
	FoldNone   Fold = iota
	FoldLower       // the whole NSS, to lower case
	FoldUpper       // the whole NSS, to upper case
	FoldPrefix      // what stands before the first hyphen, to lower case
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

// Namespace is one row: a URN namespace and its rules. The zero value of every
// field but NID adds nothing to RFC 8141. Rows are data: do not change them
// after NewSet.
type Namespace struct {
	NID   string // lower case
	Fold  Fold
	Strip string // octets that do not count, such as "-"
	// Check returns the offset in the NSS as written and the rule that is
	// broken there, or the zero Rule. nil accepts every NSS.
	Check func(nss string) (offset int, rule uri.Rule)
	// Pattern, where set, must match the canonical NSS (RE2 syntax).
	Pattern string
	Targets []Target
	Source  string // where the rules stand, for a person
}

// Target is one place to which names of a namespace lead.
type Target struct {
	// Pattern selects names by their canonical NSS (RE2 syntax); empty
	// selects all. Its named groups are variables of Template.
	Pattern string
	// Template is a URI template (RFC 6570). Beside the groups of the
	// patterns it knows urn, nid and nss, all of the canonical name.
	Template string
}
