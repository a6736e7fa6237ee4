package pages

import (
	"strings"
	"unicode"

	"github.com/urnd/urnd/resolver/scheme"
)

// menu appends the items of a menu, in which lines of text that follow each other are one.
func (m *items) menu(all []scheme.Item) {
	var between []string
	for i := range all {
		if all[i].Kind == scheme.ItemInfo && all[i].URI == "" {
			between = append(between, line(all[i].Name))
			continue
		}
		m.between(between)
		between = between[:0]
		m.item(&all[i])
	}
	m.between(between)
}

// between appends lines of text between items.
func (m *items) between(all []string) {
	joined := strings.Join(all, "\n")
	if strings.TrimSpace(joined) == "" {
		return
	}
	m.tag(`<li class="text"><pre dir="auto"`)
	if isDrawing(joined) {
		m.tag(` class="drawing" tabindex="0"`)
	}
	m.tag(">\n") // which is no part of the text: a first line that is empty is
	m.text(joined)
	m.tag("</pre></li>\n")
}

// isDrawing reports whether a text is more likely a picture made of characters, whose lines must not be
// broken, than words: less than half of it is letters and digits.
func isDrawing(s string) bool {
	words, all := 0, 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			continue
		}
		all++
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			words++
		}
	}
	return 2*words < all
}
