package registry

import "strings"

// LongestPrefix returns the entry of the longest prefix of a canonical name, the zero value if there is
// none: the one that resolves the name where it is not registered itself.
func LongestPrefix(tx Tx, name string) (Entry, error) { return longestPrefix(tx.Floor, name) }

// longestPrefix returns the entry of the longest prefix of a name, the zero value if there is none.
// floor is Floor of a store: it is called at most once for each delimiter of the name, and once.
func longestPrefix(floor func(text string) (Entry, error), name string) (Entry, error) {
	for text := name; text != ""; {
		e, err := floor(text)
		if err != nil || !e.Exists() {
			return Entry{}, err
		}
		if strings.HasPrefix(name, e.Name) {
			return e, nil
		}
		// A prefix of the name that is not after e is also one of what both begin with.
		n := 0
		for n < min(len(e.Name), len(text)) && e.Name[n] == text[n] {
			n++
		}
		text = text[:lastDelimiter(text[:n])]
	}
	return Entry{}, nil
}

// lastDelimiter returns how long the longest beginning of text is that a prefix may be.
func lastDelimiter(text string) int {
	for i := len(text); i > 0; i-- {
		if isDelimiter(text[i-1]) {
			return i
		}
	}
	return 0
}

// enclosing returns the longest that a prefix of a key may be, other than its own name.
func enclosing(name string) string {
	if name == "" {
		return ""
	}
	return name[:lastDelimiter(name[:len(name)-1])]
}
