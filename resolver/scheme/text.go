package scheme

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Text returns octets of a server as text: UTF-8 where they are valid UTF-8, else Windows-1252, the
// superset of Latin-1 that servers of the time of RFC 1738 used. Control characters but tabs become
// U+FFFD, and so do those that change the direction of text, which could make one name look like another.
func Text(s string) string {
	if isPrintable(s) {
		return s
	}
	if !utf8.ValidString(s) {
		if decoded, err := charmap.Windows1252.NewDecoder().String(s); err == nil {
			s = decoded
		}
	}
	return strings.Map(plain, s)
}

// isPrintable reports whether a text is of printable ASCII characters and tabs alone, as most are.
func isPrintable(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}

// TextLines is Text for a text of lines: line feeds stay.
func TextLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = Text(line)
	}
	return strings.Join(lines, "\n")
}

func plain(r rune) rune {
	switch {
	case r == '\t':
		return r
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
		return utf8.RuneError
	default:
		return r
	}
}
