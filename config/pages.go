package config

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The maximum lengths in characters of texts of a site, and the maximum number of its examples.
const (
	maxSiteName    = 80
	maxSiteWelcome = 1000
	maxExamples    = 10
	maxExample     = 100
)

func checkSiteName(f *Diagnostics, path string, value any) {
	text, _ := value.(string)
	checkShown(f, path, text, maxSiteName)
}

// checkShown checks a text that is displayed.
func checkShown(f *Diagnostics, path, text string, most int) {
	switch {
	case !utf8.ValidString(text) ||
		strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }):
		f.Add(path, "%q is not valid UTF-8 text", text)
	case utf8.RuneCountInString(text) > most:
		f.Add(path, "has more than %d characters", most)
	}
}

func checkAccent(f *Diagnostics, path string, value any) {
	text, _ := value.(string)
	if text != "" && !regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`).MatchString(text) {
		f.Add(path, "%q is not a colour such as '#0645ad': a number sign and six hexadecimal digits, in quotes", text)
	}
}

func checkSiteContact(f *Diagnostics, path string, value any) {
	checkContactBy(f, path, value, "is not a URI with mailto:, https:, http: or tel:", "mailto", "https", "http", "tel")
}

func checkSiteURL(f *Diagnostics, path string, value any) {
	if text, _ := value.(string); text != "" && !isWebURL(text) {
		f.Add(path, "%q is not a URL with https:// or http://, a host and no user", text)
	}
}

func checkExamples(f *Diagnostics, path string, value any) {
	examples, _ := value.([]string)
	if len(examples) > maxExamples {
		f.Add(path, "has more than %d identifiers", maxExamples)
	}
	for i, example := range examples {
		if example == "" {
			f.Add(index(path, i), "is empty")
		}
		checkShown(f, index(path, i), example, maxExample)
	}
}

// checkSiteTexts checks site.texts.
func checkSiteTexts(f *Diagnostics, texts []SiteText) {
	seen := make(map[string]bool)
	for i, text := range texts {
		at := index("site.texts", i)
		if text.Language == "" {
			f.Add(at+".language", "is missing")
		}
		if seen[text.Language] {
			f.Add(at+".language", "%q is listed twice", text.Language)
		}
		seen[text.Language] = true
		checkShown(f, at+".name", text.Name, maxSiteName)
		checkShown(f, at+".welcome", text.Welcome, maxSiteWelcome)
	}
}
