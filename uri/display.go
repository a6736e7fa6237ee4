package uri

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Display returns u for the eyes of a person: RFC 3987 section 3.2, section 4 of
// draft-ietf-urnbis-rfc2141bis-urn-03. Percent-encodings are shown as characters
// where nothing is lost: what is beyond ASCII, so that no delimiter appears,
// printable, so that nothing hides, and outside of the authority, where a host
// could look like another. FromIRI leads back to u, but for the case of
// percent-encodings.
func (u URI) Display() string {
	if strings.IndexByte(u.s, '%') < 0 {
		return u.s
	}
	var b strings.Builder
	b.WriteString(u.s[:u.pathStart()])
	showText(&b, u.s[u.pathStart():])
	shown := b.String()
	if back, err := FromIRI(shown); err != nil || back.NormalizeSteps(PercentCase) != u.NormalizeSteps(PercentCase) {
		return u.s
	}
	return shown
}

// showText writes s with the characters that may be shown.
func showText(b *strings.Builder, s string) {
	letter := false // the character before can carry a combining mark
	for i := 0; i < len(s); {
		if s[i] != '%' {
			letter = is(s[i], classAlpha|classDigit)
			b.WriteByte(s[i])
			i++
			continue
		}
		r, size := decodeRune(s[i:])
		if !isShown(r, letter) {
			b.WriteString(s[i : i+3])
			i += 3
			letter = false
			continue
		}
		letter = true
		b.WriteRune(r)
		i += 3 * size
	}
}

// decodeRune returns the character whose percent-encodings s begins with, and its
// size in octets.
func decodeRune(s string) (rune, int) {
	var octets [utf8.UTFMax]byte
	n := 0
	for ; n < len(octets) && isTriple(s, 3*n); n++ {
		octets[n] = unhex(s[3*n+1])<<4 | unhex(s[3*n+2])
	}
	return utf8.DecodeRune(octets[:n])
}

// isShown reports whether r has a shape of its own, and not that of a delimiter.
// A combining mark has one on a letter only: on a delimiter it would hide it.
func isShown(r rune, onLetter bool) bool {
	switch {
	case r <= unicode.MaxASCII, r == utf8.RuneError, !isUcschar(r), isDirectionMark(r), !unicode.IsPrint(r):
		return false
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), r == blankBraille:
		return false
	case 0xFF00 <= r && r <= 0xFF5E, 0xFE50 <= r && r <= 0xFE6F, strings.ContainsRune(doubles, r):
		return false
	default:
		return onLetter || !unicode.Is(unicode.M, r)
	}
}

const (
	blankBraille = '\u2800'
	// doubles look like a delimiter, beside the full-width and small forms:
	// slashes, dots, colons, a question mark, a number sign.
	doubles = "\u2044\u2215\u29F8\u2024\u2236\uA789\u02F8\u0589\u0294\u2E2E\u266F\u22D5"
)
