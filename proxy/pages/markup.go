package pages

import (
	"html/template"
	"strconv"
)

// markup is HTML that functions append to: the rows of listings, of which there are thousands, and for each of
// which html/template would need as long as for a whole page otherwise. Nothing becomes markup by mistake:
// what is not a constant of this package goes through text or attr, which escape it.
type markup []byte

// literal is markup as it is written here. Constants are converted to it tacitly, variables cannot be.
type literal string

func (m *markup) tag(l literal) { *m = append(*m, l...) }

// text appends a text between tags.
func (m *markup) text(s string) { m.escape(s) }

// number appends a number.
func (m *markup) number(n int) { *m = strconv.AppendInt(*m, int64(n), 10) }

// element appends what is HTML already.
func (m *markup) element(h template.HTML) { *m = append(*m, h...) }

// attr appends an attribute with the space before it.
func (m *markup) attr(name literal, value string) {
	m.tag(" ")
	m.tag(name)
	m.tag(`="`)
	m.escape(value)
	m.tag(`"`)
}

// escape appends what html/template.HTMLEscapeString returns: it is safe between tags and between quotes.
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

// html returns the markup for a place between tags of a template.
func (m *markup) html() template.HTML {
	return template.HTML(*m) //nolint:gosec // all of it is constant or escaped
}
