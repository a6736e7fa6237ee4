package uri

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Display returns u for people to read: RFC 3987 section 3.2, section 4 of draft-ietf-urnbis-rfc2141bis-urn-03.
// Percent-encodings are shown as characters where that is safe: only non-ASCII characters, so that no delimiter
// appears; only printable ones, so that nothing is invisible; and only outside the authority, where one host
// could look like another. FromIRI maps the result back to u, except for the case of percent-encodings.
func (u URI) Display() string {
	if strings.IndexByte(u.s, '%') < 0 || u.hasScheme("mailto") { // its path contains host names
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

// showText writes s, with percent-encodings decoded where they may be shown.
func showText(b *strings.Builder, s string) {
	letter := false // a combining mark may follow
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

// decodeRune decodes the percent-encoded character at the start of s. It also returns the number of its bytes.
func decodeRune(s string) (rune, int) {
	var byteCount [utf8.UTFMax]byte
	n := 0
	for ; n < len(byteCount) && isTriple(s, 3*n); n++ {
		byteCount[n] = unhex(s[3*n+1])<<4 | unhex(s[3*n+2])
	}
	return utf8.DecodeRune(byteCount[:n])
}

// isShown reports whether r is visible and does not look like a delimiter. A combining mark is only shown after
// a letter: it would hide a delimiter.
func isShown(r rune, onLetter bool) bool {
	switch {
	case r <= unicode.MaxASCII, r == utf8.RuneError, !isUcschar(r), isDirectionMark(r), !unicode.IsPrint(r):
		return false
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, lookalikes):
		return false
	default:
		return onLetter || !unicode.Is(unicode.M, r)
	}
}

// lookalikes are characters that look like a delimiter, are blank, or become ASCII under Unicode normalization:
// slashes, dots, colons, question marks, letterlike symbols, blanks, and forms for other widths and directions.
var lookalikes = &unicode.RangeTable{R16: []unicode.Range16{
	{0x00B7, 0x00B7, 1},
	{0x0294, 0x0294, 1},
	{0x02F8, 0x02F8, 1},
	{0x037E, 0x037E, 1},
	{0x0387, 0x0387, 1},
	{0x0589, 0x0589, 1},
	{0x066A, 0x066A, 1},
	{0x1FEF, 0x1FEF, 1},
	{0x2024, 0x2027, 1},
	{0x2044, 0x204A, 1},
	{0x207A, 0x207E, 1},
	{0x208A, 0x208E, 1},
	{0x2100, 0x214F, 1},
	{0x2215, 0x2216, 1},
	{0x2236, 0x2236, 1},
	{0x22D5, 0x22D5, 1},
	{0x2488, 0x24B5, 1},
	{0x266F, 0x266F, 1},
	{0x2800, 0x2800, 1},
	{0x29F5, 0x29F9, 1},
	{0x2E2E, 0x2E2E, 1},
	{0x3002, 0x3002, 1},
	{0xA789, 0xA789, 1},
	{0xFE10, 0xFE1F, 1},
	{0xFE30, 0xFE6F, 1},
	{0xFF00, 0xFFEF, 1},
}}
