package pages

import (
	"html/template"
	"io/fs"
	"strings"

	"golang.org/x/text/language"

	"github.com/urnd/urnd/proxy/pages/messages"
)

// localized are the same templates in each language: {{t ID NAME VALUE}} is a message in it.
type localized [languages]*template.Template

// newLocalized returns the templates *.html of a file system. It panics where one is not a template: they are part of the program.
func newLocalized(files fs.FS, texts [languages]*messages.Texts) (all localized) {
	for l := range all {
		functions := template.FuncMap{"t": texts[l].T, "date": date}
		all[l] = template.Must(template.New("").Funcs(functions).ParseFS(files, "*.html"))
	}
	return all
}

// newTexts returns the messages of all languages. It panics where a file has none: they are part of the program.
func newTexts() (all [languages]*messages.Texts) {
	tags := make([]language.Tag, 0, languages)
	for _, l := range Languages() {
		tags = append(tags, language.Make(l.Tag()))
	}
	texts, err := messages.New(tags...)
	if err != nil {
		panic(err)
	}
	copy(all[:], texts)
	return all
}

// date returns a day as an element that programs understand, too.
func date(day string) template.HTML {
	day = template.HTMLEscapeString(day)
	return template.HTML(`<time datetime="` + day + `">` + day + `</time>`) //nolint:gosec // escaped
}

// Contents are the templates of another package, which makes the content of panels by them: what is put in is escaped by context. They are
// immutable, and safe for concurrent use.
type Contents struct{ templates localized }

// NewContents returns the templates *.html of a file system. It panics where one is not a template: they are part of the program.
func NewContents(files fs.FS) Contents { return Contents{newLocalized(files, newTexts())} }

// Content is HTML that was made of a template.
type Content = template.HTML

// Make returns the content that a template makes of data in a language.
func (c Contents) Make(l Language, file string, data any) Content {
	var b strings.Builder
	if err := c.templates[l].ExecuteTemplate(&b, file, data); err != nil { // a test makes each page: data is of the types of the template
		return "<p>This page failed.</p>"
	}
	return Content(b.String())
}

// Escaped returns a text as content.
func Escaped(text string) Content { return Content(template.HTMLEscapeString(text)) }
