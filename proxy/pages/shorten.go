package pages

import "strings"

// Shorten returns a text that others have written, or as much of it as so many octets, with a mark that it goes on.
func Shorten(text string, octets int) string {
	if len(text) <= octets {
		return text
	}
	return strings.ToValidUTF8(text[:octets], "") + "…"
}
