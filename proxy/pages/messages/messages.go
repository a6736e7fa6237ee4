// Package messages has the texts of all pages, by identifier, in one TOML file for each language: en.toml and
// its translations, which translators edit without Go. An identifier and the values of its placeholders
// enter; plain text or escaped HTML leaves. Messages are those of go-i18n: {{.Name}} is a placeholder, and
// the plural form (one, many or other) is selected by the value Count, by the rules of the language (CLDR).
package messages

import (
	"embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	i18ntemplate "github.com/nicksnyder/go-i18n/v2/i18n/template"
	"github.com/pelletier/go-toml/v2"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

//go:embed *.toml
var files embed.FS

// Texts are the messages of one language. They are immutable, and safe for concurrent use.
type Texts struct {
	single  map[string]string // the messages without plural forms, by identifier
	plurals *i18n.Localizer   // all messages
	numbers *message.Printer
}

// New returns the messages of each language. A file is named by the base of its language tag, such as zh.toml
// for zh-Hans.
func New(tags ...language.Tag) ([]*Texts, error) {
	all := make([]*Texts, 0, len(tags))
	for _, tag := range tags {
		base, _ := tag.Base()
		bundle := i18n.NewBundle(language.Make(base.String()))
		bundle.RegisterUnmarshalFunc("toml", toml.Unmarshal)
		file, err := bundle.LoadMessageFileFS(files, base.String()+".toml")
		if err != nil {
			return nil, fmt.Errorf("reading the messages of pages in %s: %w", tag, err)
		}
		t := &Texts{
			single: make(map[string]string), plurals: i18n.NewLocalizer(bundle, base.String()),
			numbers: message.NewPrinter(tag),
		}
		for _, m := range file.Messages {
			if m.One+m.Two+m.Few+m.Many == "" {
				t.single[m.ID] = m.Other
			}
		}
		all = append(all, t)
	}
	return all, nil
}

// Text returns a message as plain text. Values are pairs of a placeholder name, as in {{.Name}}, and a string
// or a number, which is formatted by the rules of the language. An unknown message is replaced by its
// identifier, which tests detect.
func (t *Texts) Text(id string, values ...any) string {
	text := t.message(id, values)
	if len(values) == 0 {
		return text
	}
	return t.replace(text, values, func(s string) string { return s })
}

// T is Text as HTML: values of type template.HTML are inserted unchanged, all others are escaped.
func (t *Texts) T(id string, values ...any) template.HTML {
	text := template.HTMLEscapeString(t.message(id, values))
	if len(values) > 0 {
		text = t.replace(text, values, template.HTMLEscapeString)
	}
	return template.HTML(text) //nolint:gosec // escaped
}

// Has reports whether a message without plural forms exists.
func (t *Texts) Has(id string) bool {
	_, ok := t.single[id]
	return ok
}

// Number formats a number with grouped digits, by the rules of the language.
func (t *Texts) Number(n int64) string { return t.numbers.Sprint(number.Decimal(n)) }

// Decimal formats a number with fraction digits, by the rules of the language.
func (t *Texts) Decimal(n float64, digits int) string {
	return t.numbers.Sprint(number.Decimal(n, number.Scale(digits)))
}

// message returns a message, or its plural form for the value Count, with its placeholders.
func (t *Texts) message(id string, values []any) string {
	if text, ok := t.single[id]; ok {
		return text
	}
	config := i18n.LocalizeConfig{MessageID: id, TemplateParser: i18ntemplate.IdentityParser{}}
	for i := 1; i < len(values); i += 2 {
		if values[i-1] == "Count" {
			config.PluralCount = values[i]
		}
	}
	text, err := t.plurals.Localize(&config)
	if err != nil {
		return id
	}
	return text
}

// replace inserts values into a message.
func (t *Texts) replace(text string, values []any, escape func(string) string) string {
	pairs := make([]string, 0, len(values))
	for i := 1; i < len(values); i += 2 {
		var shown string
		switch v := values[i].(type) {
		case template.HTML:
			shown = string(v)
		case string:
			shown = escape(v)
		case int, int64:
			shown = t.numbers.Sprint(number.Decimal(v))
		default:
			shown = escape(fmt.Sprint(v))
		}
		pairs = append(pairs, fmt.Sprintf("{{.%s}}", values[i-1]), shown)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
