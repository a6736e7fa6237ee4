package pages

import (
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/pages/messages"
)

// localized are the same templates in each language: {{t ID NAME VALUE}} is a message in it, and {{en}} marks what is in English.
type localized [languages]*template.Template

// en marks an element whose text is in English on every page, where the page is not: {{en}} in its tag.
func (l Language) en() template.HTMLAttr {
	if l == English {
		return ""
	}
	return ` lang="en"`
}

// newLocalized returns the templates *.html of a file system. It panics where one is not a template: they are part of the program.
func newLocalized(files fs.FS, texts [languages]*messages.Texts) (all localized) {
	for l := range all {
		functions := template.FuncMap{"t": texts[l].T, "date": date, "bdi": Bdi, "code": Code, "isolated": Isolated, "link": Link, "moment": Moment, "en": Language(l).en}
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
	template.Must(nil, err)
	copy(all[:], texts)
	return all
}

// date returns a day as an element that programs understand, too.
func date(day string) template.HTML {
	day = template.HTMLEscapeString(day)
	return template.HTML(`<time datetime="` + day + `">` + day + `</time>`) //nolint:gosec // escaped
}

// Bdi returns a text of others as an element whose direction is its own: what is in it, such as U+202E, changes nothing around it (UAX #9).
func Bdi(text any) template.HTML {
	return template.HTML("<bdi>" + template.HTMLEscapeString(fmt.Sprint(text)) + "</bdi>") //nolint:gosec // escaped
}

// Code returns a text of a program, such as a name or a URI, as an element, whose direction is its own.
func Code(text any) template.HTML {
	return template.HTML(`<code dir="auto">` + template.HTMLEscapeString(fmt.Sprint(text)) + "</code>") //nolint:gosec // escaped
}

// Link returns a link with the text of a name or URI. One that no browser opens is its text alone.
func Link(target, text string) template.HTML {
	if !strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "https://") && !strings.HasPrefix(target, "http://") {
		return Code(text)
	}
	return template.HTML(`<a href="` + template.HTMLEscapeString(target) + `" rel="noreferrer nofollow">` + string(Code(text)) + `</a>`) //nolint:gosec // escaped
}

// Isolated returns a text of others for a place without elements, such as a title, between characters that isolate it (UAX #9 section 2.4).
func Isolated(text string) string { return "\u2068" + text + "\u2069" }

// Moment returns a time as an element: in UTC, which a script may write in the zone of the reader.
func Moment(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + t.Format("2006-01-02 15:04:05") + ` UTC</time>`) //nolint:gosec // numbers
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

// InEnglish returns a text that is in English on every page, such as that of a log, isolated as those of others are, with a mark where the page is in
// another language.
func (w Writer) InEnglish(text string) Content {
	return "<bdi" + Content(w.language.en()) + ">" + Content(template.HTMLEscapeString(text)) + "</bdi>"
}

// Reason says why something failed: by the code of its problem, and what the problem says beyond that, in English.
func (w Writer) Reason(p api.Problem) Content {
	p.More = shorten(p.More)
	said := w.reason(&p)
	if p.More != "" {
		said += " " + w.InEnglish(capital(sentenceOf(p.More)))
	}
	return said
}

// Escaped returns a text as content.
func Escaped(text string) Content { return Content(template.HTMLEscapeString(text)) }
