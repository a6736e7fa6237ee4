package scheme

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// DecodeText decodes bytes of a server: as UTF-8 if they are valid UTF-8, otherwise as Windows-1252, the superset of
// the Latin-1 that servers of the time of RFC 1738 used. Control characters except tabs become U+FFFD. So do
// those that change the direction of text, which could make one name look like another.
func DecodeText(s string) string {
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

// isPrintable reports whether a text has only printable ASCII characters and tabs, the common case.
func isPrintable(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}

// DecodeLines is Text for several lines: line feeds are preserved.
func DecodeLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = DecodeText(line)
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
