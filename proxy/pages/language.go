package pages

import "golang.org/x/text/language"

// Language is one that pages are written in. The zero value is English.
type Language uint8

// The languages.
const (
	English Language = iota
	German
	French
	Spanish
	Chinese // in simplified characters

	languages = 5
)

// Languages returns all of them, in the order in which pages list them.
func Languages() []Language { return []Language{English, German, French, Spanish, Chinese} }

// Tag returns the tag of a language: RFC 5646.
func (l Language) Tag() string { return [languages]string{"en", "de", "fr", "es", "zh-Hans"}[l] }

// Word returns the tag without script, as ?lang= and the settings of a site write it.
func (l Language) Word() string { return [languages]string{"en", "de", "fr", "es", "zh"}[l] }

// ownName returns what speakers of a language call it.
func (l Language) ownName() string {
	return [languages]string{"English", "Deutsch", "Français", "Español", "中文"}[l]
}

// LanguageOf returns the language of a word such as "de", and false where there is none.
func LanguageOf(word string) (Language, bool) {
	for _, l := range Languages() {
		if l.Word() == word {
			return l, true
		}
	}
	return English, false
}

// newMatcher returns what finds the language that a reader understands best.
func newMatcher() language.Matcher {
	tags := make([]language.Tag, 0, languages)
	for _, l := range Languages() {
		tags = append(tags, language.Make(l.Tag()))
	}
	return language.NewMatcher(tags)
}

// maxAccept bounds the octets of an Accept-Language that is read: browsers send some 50. It takes time to parse.
const maxAccept = 256

// Language returns the language for a value of Accept-Language (RFC 9110 section 12.5.4), "" for none: the one that its sender
// understands without doubt and prefers, and that of the site where there is none.
func (d *Design) Language(accept string) Language {
	if accept == "" || len(accept) > maxAccept {
		return d.site.Language
	}
	tags, qualities, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return d.site.Language
	}
	wanted := 0
	for i, q := range qualities {
		if q > 0 {
			wanted = i + 1
		}
	}
	for _, tag := range tags[:wanted] {
		if _, i, confidence := d.matcher.Match(tag); confidence >= language.High {
			return Language(i) //nolint:gosec // it is one of Languages
		}
	}
	return d.site.Language
}
