package pages

import (
	"html/template"
	"strconv"
)

// markup is an append-only HTML buffer for the rows of listings, of which there are thousands: html/template
// would need as long for each of them as for a whole page. It is safe by its types: text that is not a
// constant of this package must go through text or attr, which escape it.
type markup []byte

// literal is constant markup. Constants are converted to it implicitly, variables are not.
type literal string

func (m *markup) tag(l literal) { *m = append(*m, l...) }

// text appends escaped text.
func (m *markup) text(s string) { m.escape(s) }

// number appends a number.
func (m *markup) number(n int) { *m = strconv.AppendInt(*m, int64(n), 10) }

// element appends HTML.
func (m *markup) element(h template.HTML) { *m = append(*m, h...) }

// attr appends an attribute, preceded by a space.
func (m *markup) attr(name literal, value string) {
	m.tag(" ")
	m.tag(name)
	m.tag(`="`)
	m.escape(value)
	m.tag(`"`)
}

// escape appends the result of html/template.HTMLEscapeString, which is safe in text and in quoted
// attributes.
func (m *markup) escape(s string) {
	from := 0
	for i := range len(s) {
		var escaped literal
		switch s[i] {
		case '<':
			escaped = "&lt;"
		case '>':
			escaped = "&gt;"
		case '&':
			escaped = "&amp;"
		case '"':
			escaped = "&#34;"
		case '\'':
			escaped = "&#39;"
		case 0:
			escaped = "\uFFFD"
		default:
			continue
		}
		*m = append(*m, s[from:i]...)
		m.tag(escaped)
		from = i + 1
	}
	*m = append(*m, s[from:]...)
}

// html returns the markup as HTML.
func (m *markup) html() template.HTML {
	return template.HTML(*m) //nolint:gosec // all of it is constant or escaped
}
