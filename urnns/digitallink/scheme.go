// Package digitallink knows identifiers in web addresses, "https://id.example.org/01/09506000134352/10/ABC": the structured path of
// ISO/IEC 18975, whose first scheme is GS1 Digital Link (URI Syntax 1.7). A scheme is data: a table of its keys.
package digitallink

// Scheme is a table of keys. It is immutable.
type Scheme struct {
	Name string // in messages
	Keys []Key  // the primary keys
	// Attributes are the data attributes whose values are known, for the query. Others are not refused: new ones come faster than software.
	Attributes []Field
	// HasTags is whether a path may be the bits of a tag: see EPC. HasDots is whether an identifier may be in the query of the root, its codes
	// with a dot before them: the form that ISO/IEC 18975 has for data identifiers, "/?.25P=...&.S=...".
	HasTags, HasDots bool
	// Public is the root at which the public resolver leads on to those of the owners of identifiers, "" for none.
	Public string
}

// Key is a primary key, which identifies something alone, with its qualifiers.
type Key struct {
	Field
	// Chains are the alternatives of qualifiers, each in the order in which they stand in a path. Each of a chain may be missing.
	Chains [][]Field
	// Required is the code of the qualifier that must be there, "" for none.
	Required string
	// Levels are the sets of qualifiers that links are registered at, the most specific first; a set is in the order of a chain. The key alone
	// is the last level, and need not be named.
	Levels [][]string
}

// Field is a code and what its values look like.
type Field struct {
	Code  string // the identifier before the value: "01"
	Name  string // what people call it: "GTIN"
	Value []Part // of which a value consists, one after another
	// Pad is the length that values of digits are padded to with zeros on the left, where they have one of Short; 0 for none.
	Pad   int
	Short []int
}

// Part is a part of a value: between Min and Max characters of a set. Only the last part may have a length that varies.
type Part struct {
	Set      Set
	Min, Max int
	Check    Check
	// Begins is what the part begins with, "" for anything, and Digits how many of its first characters must be digits, such as those
	// of a company prefix.
	Begins string
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

// Check is how the last characters of a part are made of the others.
type Check uint8

// The checks.
const (
	NoCheck    Check = iota
	CheckDigit       // the last digit: GS1 General Specifications section 7.9.1
	CheckPair        // the last two characters: section 7.9.5
	NoZeroes         // no check: the first digit of a number is not 0
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
