package pages

import (
	"html/template"
	"unicode/utf8"
)

// What the page about a name has room for at most, in octets of markup.
const (
	roomPage       = 29_000
	roomFrame      = 6_000 // what is around the content, and headings
	roomTitle      = 500
	roomText       = 700
	roomPath       = 600
	roomTargets    = 5_000
	roomList       = 2_000
	roomSteps      = 3_000
	roomWay        = 7_000
	roomProperties = 4_000
	mostSteps      = 30
)

// room is what is left of a page for what is known of a name.
type room struct {
	Writer
	left int
}

// newRoom returns the room of a page with a style sheet.
func newRoom(w Writer, s *sheet) *room { return &room{w, roomPage - roomFrame - len(s.element)} }

// fit returns a text of which the markup has at most so many octets, and the mark that it was cut.
func (r *room) fit(s string, most int) string {
	s, size := fitting(s, min(most, r.left))
	r.left -= size
	return s
}

// fitting returns as much of a text as has markup of at most so many octets, with the mark that it was cut, and how many it has.
func fitting(s string, most int) (fits string, size int) {
	const mark = "…"
	for i, c := range s {
		n := max(utf8.RuneLen(c), utf8.RuneLen(utf8.RuneError))
		switch c {
		case '<', '>', '&', '"', '\'', '+', 0: // html/template escapes all of them
			n = len("&#34;")
		}
		if size+n > most-len(mark) {
			return s[:i] + mark, size + len(mark)
		}
		size += n
	}
	return s, size
}

// items returns what write writes of each of so many, as many as there is room for, and whether that are not all.
func (r *room) items(most, count int, write func(m *markup, i int)) (items template.HTML, isCut bool) {
	var m markup
	for i := range count {
		before := len(m)
		write(&m, i)
		if len(m) > min(most, r.left) {
			m, isCut = m[:before], true
			break
		}
	}
	r.left -= len(m)
	return m.html(), isCut
}

// path returns the attribute with a path of this server, "" for none or one that there is no room for.
func (r *room) path(name, path string) template.HTMLAttr {
	if path == "" {
		return ""
	}
	var m markup
	m.escape(r.design.Path(path))
	if len(m) > min(roomPath, r.left) {
		return ""
	}
	r.left -= len(m)
	return template.HTMLAttr(name + `="` + string(m) + `"`) //nolint:gosec // escaped, and of this server
}

// contact is the function contact for a text that may be long.
func (r *room) contact(text string) link { return contact(r.fit(r.fit(text, roomText), roomText)) } // a link has it twice
