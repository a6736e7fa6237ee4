package pages

import (
	"html/template"
	"io/fs"
	"strings"
)

// Contents are the templates of another package, which makes the content of panels by them: what is put in is escaped by context. They are
// immutable, and safe for concurrent use.
type Contents struct{ templates *template.Template }

// Content is HTML that was made of a template.
type Content = template.HTML

// NewContents returns the templates *.html of a file system. It panics where one is not a template: they are part of the program.
func NewContents(files fs.FS) Contents {
	return Contents{template.Must(template.New("").ParseFS(files, "*.html"))}
}

// Make returns the content that a template makes of data.
func (c Contents) Make(file string, data any) Content {
	var b strings.Builder
	if err := c.templates.ExecuteTemplate(&b, file, data); err != nil { // a test makes each page: data is of the types of the template
		return "<p>This page failed.</p>"
	}
	return Content(b.String())
}

// Escaped returns a text as content.
func Escaped(text string) Content { return Content(template.HTMLEscapeString(text)) }
