package pages

import "golang.org/x/text/language"

// Language is a language of pages. The zero value is English.
type Language uint8

// Languages of pages.
const (
	English Language = iota
	German
	French
	Spanish
	Chinese // simplified characters

	languages = 5
)

// Languages returns all languages, in the order in which pages list them.
func Languages() []Language { return []Language{English, German, French, Spanish, Chinese} }

// Tag returns the language tag: RFC 5646.
func (l Language) Tag() string { return [languages]string{"en", "de", "fr", "es", "zh-Hans"}[l] }

// ShortTag returns the tag without script, as used in ?lang= and in the configuration.
func (l Language) ShortTag() string { return [languages]string{"en", "de", "fr", "es", "zh"}[l] }

// ownName returns the name of a language in that language.
func (l Language) ownName() string {
	return [languages]string{"English", "Deutsch", "Français", "Español", "中文"}[l]
}

// ParseLanguage returns the language for a ShortTag such as "de", and false for unknown ones.
func ParseLanguage(word string) (Language, bool) {
	for _, l := range Languages() {
		if l.ShortTag() == word {
			return l, true
		}
	}
	return English, false
}

// newMatcher returns the matcher of all languages.
func newMatcher() language.Matcher {
	tags := make([]language.Tag, 0, languages)
	for _, l := range Languages() {
		tags = append(tags, language.Make(l.Tag()))
	}
	return language.NewMatcher(tags)
}

// maxAccept limits the bytes of an Accept-Language that is parsed, which takes time: browsers send some 50.
const maxAccept = 256

// Language returns the language for a value of Accept-Language (RFC 9110 section 12.5.4), "" for none: the
// match of high confidence that is preferred most, otherwise the language of the site.
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
			return Language(i) //nolint:gosec // it is an index of Languages
		}
	}
	return d.site.Language
}
