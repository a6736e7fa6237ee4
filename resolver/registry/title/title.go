// Package title extracts titles from metadata, and matches them with search queries. Metadata or a query
// enters as text, and folded words leave. Stores index these words, so that every database finds the same
// names, independent of its own collation. Words are folded by the compatibility decomposition of UAX #15 and
// Unicode case folding.
package title

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/urnd/urnd/internal/plaintext"
)

// Limits of titles and queries. Words of a title beyond them are not found.
const (
	MaxWords      = 200 // of a name
	MaxWord       = 64  // bytes
	MaxQuery      = 1000
	MaxQueryWords = 16

	// maxDepth bounds the nesting of lists and objects in a member that contains titles.
	maxDepth = 3
)

// FromMetadata returns the titles in metadata, which is a JSON object or "".
func FromMetadata(metadata string) (titles []string) {
	var object map[string]any
	if metadata == "" || json.Unmarshal([]byte(metadata), &object) != nil {
		return nil
	}
	members := slices.Sorted(maps.Keys(object)) // a deterministic order
	for _, title := range Members() {
		for _, member := range members {
			if strings.EqualFold(member, title) {
				titles = appendTexts(titles, object[member], maxDepth)
			}
		}
	}
	return titles
}

// appendTexts appends the strings in a JSON value. A number counts only as the whole title.
func appendTexts(texts []string, value any, depth int) []string {
	switch v := value.(type) {
	case string:
		texts = append(texts, v)
	case float64:
		if depth == maxDepth {
			texts = append(texts, fmt.Sprint(v))
		}
	case []any:
		for i := 0; i < len(v) && depth > 1; i++ {
			texts = appendTexts(texts, v[i], depth-1)
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if depth > 1 {
				texts = appendTexts(texts, v[member], depth-1)
			}
		}
	}
	return texts
}

// Words returns the distinct words of titles, in order: case-folded, without diacritics, in compatibility
// decomposition (UAX #15). In scripts without spaces each character is a word. Words consist of letters,
// numbers and marks.
func Words(titles ...string) (words []string) {
	seen := make(map[string]bool)
	for _, title := range titles {
		for word := range strings.FieldsFuncSeq(fold(title), isSeparator) {
			for word != "" && len(words) < MaxWords {
				n := wordEnd(word)
				if w := plaintext.Truncate(word[:n], MaxWord); !seen[w] {
					seen[w] = true
					words = append(words, w)
				}
				word = word[n:]
			}
		}
	}
	return words
}

// Query is a search for titles that contain all of its words. The last one may be the beginning of a word of
// the title.
type Query []string

// ErrQuery is the error of invalid queries.
var ErrQuery = errors.New("invalid search for titles")

// ParseQuery parses the text of a query into words.
func ParseQuery(text string) (Query, error) {
	if len(text) > MaxQuery {
		return nil, fmt.Errorf("%w: %.40q... exceeds %d bytes", ErrQuery, text, MaxQuery)
	}
	words := Words(text)
	switch {
	case len(words) == 0:
		return nil, fmt.Errorf("%w: no word in %q", ErrQuery, text)
	case len(words) > MaxQueryWords:
		return nil, fmt.Errorf("%w: %.40q... exceeds %d words", ErrQuery, text, MaxQueryWords)
	}
	return words, nil
}

// Matches reports whether a title with these words matches the query.
func (q Query) Matches(words []string) bool {
	last := len(q) - 1
	for _, want := range q[:last] {
		if !slices.Contains(words, want) {
			return false
		}
	}
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, q[last]) })
}

// fold returns a text without case and diacritics. It is idempotent.
func fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	// Remove marks first: case folding would convert an iota subscript to a letter. Its results are
	// decomposed again.
	text = undecorated(text)
	// Case folding maps Cherokee letters to upper case (x/text), so convert to lower case as well.
	text = undecorated(strings.ToLower(cases.Fold().String(text)))
	return norm.NFC.String(text) // recompose Hangul syllables
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// undecorated returns the compatibility decomposition of a text without the diacritics of Latin, Greek and
// Cyrillic and the points of Hebrew and Arabic. Other marks, such as vowels of Indic scripts, distinguish
// words.
func undecorated(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.Is(unicode.Mn, r) {
			return r
		}
		if class := norm.NFKD.PropertiesString(string(r)).CCC(); class >= 200 || 10 <= class && class <= 35 {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
}

func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
}

// isUnspaced reports whether a character is of a script without spaces between words.
func isUnspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}

// wordEnd returns the length of the first word of a text without separators.
func wordEnd(text string) int {
	started := false
	for i, r := range text {
		if started && isUnspaced(r) && !unicode.IsMark(r) {
			return i
		}
		if started && !unicode.IsMark(r) {
			if first, _ := utf8.DecodeRuneInString(text); isUnspaced(first) {
				return i
			}
		}
		started = true
	}
	return len(text)
}
