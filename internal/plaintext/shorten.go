package plaintext

import (
	"strings"
	"unicode/utf8"
)

// Cut returns as much of a text as so many bytes hold, in whole characters.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Shorten is Cut, with a mark where the text goes on.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.TrimRight(Cut(text, most), " ") + "…"
}
