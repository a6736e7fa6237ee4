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

// localized has the same templates for each language: {{t ID NAME VALUE}} is a message in the language, and
// {{en}} marks an element whose text is in English.
type localized [languages]*template.Template

// en returns the lang attribute of an element with English text, "" on an English page: {{en}} in its tag.
func (l Language) en() template.HTMLAttr {
	if l == English {
		return ""
	}
	return ` lang="en"`
}

// newLocalized parses the templates *.html of a file system. It panics on an invalid template, since
// templates are part of the program.
func newLocalized(files fs.FS, texts [languages]*messages.Texts) (all localized) {
	for l := range all {
		functions := template.FuncMap{
			"t": texts[l].T, "date": date, "bdi": Bdi, "code": Code, "isolated": Isolated,
			"link": Link, "moment": Moment, "en": Language(l).en,
		}
		all[l] = template.Must(template.New("").Funcs(functions).ParseFS(files, "*.html"))
	}
	return all
}

// newTexts returns the messages of all languages. It panics on an invalid file, since the files are part of
// the program.
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

// date returns a day as a time element.
func date(day string) template.HTML {
	day = template.HTMLEscapeString(day)
	return template.HTML(`<time datetime="` + day + `">` + day + `</time>`) //nolint:gosec // escaped
}

// Bdi returns a text of external origin as a bdi element: its directional characters, such as U+202E, do not
// affect the text around it (UAX #9).
func Bdi(text any) template.HTML {
	return template.HTML("<bdi>" + template.HTMLEscapeString(fmt.Sprint(text)) + "</bdi>") //nolint:gosec // escaped
}

// Code returns a text such as a name or a URI as a code element with automatic direction.
func Code(text any) template.HTML {
	return template.HTML(`<code dir="auto">` + template.HTMLEscapeString(fmt.Sprint(text)) + "</code>") //nolint:gosec // escaped
}

// Link returns a link with a name or URI as its text. A target that browsers cannot open is shown as text
// only.
func Link(target, text string) template.HTML {
	if !strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "https://") &&
		!strings.HasPrefix(target, "http://") {
		return Code(text)
	}
	return template.HTML(`<a href="` + template.HTMLEscapeString(target) + //nolint:gosec // escaped
		`" rel="noreferrer nofollow">` + string(Code(text)) + `</a>`)
}

// Isolated returns a text of external origin for a place without elements, such as a title, between
// directional isolates (UAX #9 section 2.4).
func Isolated(text string) string { return "\u2068" + text + "\u2069" }

// Moment returns a time as a time element in UTC. A script may show it in the time zone of the reader.
func Moment(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + //nolint:gosec // numbers
		t.Format("2006-01-02 15:04:05") + ` UTC</time>`)
}

// Contents are the templates of another package for the content of panels. Values are escaped according to
// their context. They are immutable, and safe for concurrent use.
type Contents struct{ templates localized }

// NewContents parses the templates *.html of a file system. It panics on an invalid template, since templates
// are part of the program.
func NewContents(files fs.FS) Contents { return Contents{newLocalized(files, newTexts())} }

// Content is HTML of a template.
type Content = template.HTML

// Make executes a template in a language.
func (c Contents) Make(l Language, file string, data any) Content {
	var b strings.Builder
	// Tests cover each page: data has the types of the template.
	if err := c.templates[l].ExecuteTemplate(&b, file, data); err != nil {
		return "<p>This page failed.</p>"
	}
	return Content(b.String())
}

// InEnglish returns a text that is always in English, such as a log message, isolated like other texts of
// external origin, and with a lang attribute on pages in other languages.
func (w Writer) InEnglish(text string) Content {
	return "<bdi" + Content(w.language.en()) + ">" + Content(template.HTMLEscapeString(text)) + "</bdi>"
}

// Reason returns the reason of a failure: the message of the problem's code, and its additional text in
// English.
func (w Writer) Reason(p api.Problem) Content {
	p.More = shorten(p.More)
	reported := w.reason(&p)
	if p.More != "" {
		reported += " " + w.InEnglish(capital(sentenceOf(p.More)))
	}
	return reported
}

// Escaped returns a text as content.
func Escaped(text string) Content { return Content(template.HTMLEscapeString(text)) }
