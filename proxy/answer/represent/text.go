package represent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/uri"
)

// Limits of input and output, in bytes of texts and numbers of list elements.
const (
	maxInput = 64 << 10 // the limit of the registry
	maxText  = 2 << 10
	maxLong  = 16 << 10 // of a description
	maxList  = 200
	maxLinks = 1000
)

// line returns a text as a single line without control characters, of at most limit bytes and an ellipsis if
// it is cut. Bidirectional control characters are removed, since they would also affect the text that
// follows.
func line(text string, limit int) string {
	if len(text) > 2*limit { // the rest is not read
		text = text[:2*limit]
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r), r == utf8.RuneError, r == '\ufeff', isTurn(r), r&0xfffe == 0xfffe:
			return -1
		default:
			return r
		}
	}, text)
	return plaintext.Shorten(strings.Join(strings.Fields(text), " "), limit)
}

// isTurn reports whether a character is a bidirectional control of embeddings, overrides or isolates: UAX 9
// section 2.
func isTurn(r rune) bool {
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// lines returns texts as lines, without empty ones and duplicates.
func lines(texts []string) []string {
	var all []string
	for _, text := range texts[:min(len(texts), maxList)] {
		if text = line(text, maxText); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// address returns an absolute URI, "" for other texts. It contains no character that Turtle excludes from
// IRIs.
func address(text string) string {
	if len(text) > maxLong {
		return ""
	}
	u, err := uri.FromIRI(strings.TrimSpace(text))
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, c := range []byte(u.String()) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("<>\"{}|^`\\", c) >= 0 {
			b.WriteString(uri.Escape(string([]byte{c}), ""))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func addresses(texts []string) []string {
	var all []string
	for _, text := range texts[:min(len(texts), maxList)] {
		if text = address(text); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// webAddress returns an http or https URI, or a URN; "" for all others, since metadata must not introduce
// active schemes such as javascript.
func webAddress(text string) string {
	text = address(text)
	scheme, _, _ := strings.Cut(text, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "urn":
		return text
	default:
		return ""
	}
}

// mediaType returns a media type with its parameters; "" for an invalid one.
func mediaType(text string) string {
	text = line(text, 255)
	essence, _, _ := strings.Cut(text, ";")
	major, minor, ok := strings.Cut(strings.TrimSpace(essence), "/")
	if !ok || !isToken(major) || !isToken(minor) {
		return ""
	}
	return text
}

// isToken approximates the restricted names of RFC 6838 section 4.2.
func isToken(text string) bool {
	for _, c := range []byte(text) {
		if !isAlphanumeric(c) && strings.IndexByte("!#$&-^_.+", c) < 0 {
			return false
		}
	}
	return text != ""
}

// language returns a language tag that has the form of RFC 5646; "" for others.
func language(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 35 {
		return ""
	}
	for part := range strings.SplitSeq(text, "-") {
		if part == "" || len(part) > 8 {
			return ""
		}
		for _, c := range []byte(part) {
			if !isAlphanumeric(c) {
				return ""
			}
		}
	}
	return text
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
