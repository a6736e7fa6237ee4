package plaintext

import (
	"fmt"
	"strings"
	"unicode"
)

// OneLine returns a text that is written by others with what would break a line, command a terminal or change the direction of a
// text (Unicode, UAX 9) as \u and its number: what is seen is what is there.
func OneLine(text string) string {
	hidden := func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == '\ufeff'
	}
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
