package pages

import (
	"html/template"
	"testing"
)

// Text is escaped as by html/template, in text and in attributes.
func FuzzMarkup(f *testing.F) {
	for _, s := range []string{"", "a", `<a href="x">`, "'&amp;'\x00", "ä\xff<", "+", "</"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var m markup
		m.text(s)
		m.attr("title", s)
		escaped := template.HTMLEscapeString(s)
		if want := template.HTML(escaped + ` title="` + escaped + `"`); m.html() != want {
			t.Errorf("%q is %q, want %q", s, m, want)
		}
	})
}
