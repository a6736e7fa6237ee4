// Package digitallink parses identifiers in web addresses, such as
// "https://id.example.org/01/09506000134352/10/ABC": the structured path of ISO/IEC 18975, whose first scheme
// is GS1 Digital Link (URI Syntax 1.7). A URI below a root enters; a Link with its primary key, qualifiers,
// normal path and levels leaves, or a *uri.ParseError. A scheme is data: a table of its keys, for which the
// values are defined by the GS1 General Specifications or by ISO/IEC 15459.
package digitallink

// Scheme is a table of keys. It is immutable.
type Scheme struct {
	Name string // for messages
	Keys []Key  // the primary keys
	// Attributes are the data attributes in the query whose values are checked. Unknown ones are accepted,
	// since new ones appear faster than software.
	Attributes []Field
	// HasTags means that a path may be the bits of a tag: see EPC. HasDots means that an identifier may be in
	// the query of the root, with a dot before its codes: the form of ISO/IEC 18975 for data identifiers,
	// "/?.25P=...&.S=...".
	HasTags, HasDots bool
	// PublicResolver is the root of the public resolver, which redirects to the resolvers of the owners of identifiers;
	// "" for none.
	PublicResolver string
}

// Key is a primary key, which identifies an item by itself, with its qualifiers.
type Key struct {
	Field
	// Chains are alternative sequences of qualifiers, in their order in a path. Each qualifier of a chain is
	// optional.
	Chains [][]Field
	// Required is the code of a mandatory qualifier, "" for none.
	Required string
	// Levels are the sets of qualifiers at which links are registered, the most specific first; a set is in the
	// order of a chain. The key alone is always the last level, and is not listed.
	Levels [][]string
}

// Field is a code and the syntax of its values.
type Field struct {
	Code  string // identifier before the value: "01"
	Name  string // name for people: "GTIN"
	Value []Part // consecutive parts of a value
	// Pad is the length to which values with a length in Short are padded with zeros on the left; 0 for none.
	Pad   int
	Short []int
}

// Part is a part of a value: between Min and Max characters of a set. Only the last part may have a variable
// length.
type Part struct {
	Set      Set
	Min, Max int
	Check    Check
	// Prefix is the prefix of the part, "" for any. Digits is how many leading characters must be digits, such
	// as those of a company prefix.
	Prefix string
	Digits int
}

// Set is a set of characters.
type Set uint8

// The sets of the GS1 General Specifications, figures 7.11-1 to 7.11-3.
const (
	Numeric Set = iota
	Set82
	Set39
)

// has reports whether a character is in the set.
func (s Set) has(c byte) bool {
	isDigit := '0' <= c && c <= '9'
	switch s {
	case Numeric:
		return isDigit
	case Set39:
		return isDigit || 'A' <= c && c <= 'Z' || c == '#' || c == '-' || c == '/'
	default:
		return indexOf82(c) >= 0
	}
}

// Check is how a part is verified.
type Check uint8

// The checks.
const (
	NoCheck    Check = iota
	CheckDigit       // the last digit: GS1 General Specifications section 7.9.1
	CheckPair        // the last two characters: section 7.9.5
	NoZeroes         // no check characters: a number must not start with 0
)

// key returns the primary key of a code.
func (s *Scheme) key(code string) *Key {
	for i := range s.Keys {
		if s.Keys[i].Code == code {
			return &s.Keys[i]
		}
	}
	return nil
}
