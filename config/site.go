package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urnd/urnd/uri"
)

// Presentation is what readers see of the site on its pages.
type Presentation struct {
	Name     string     `mapstructure:"name"`   // empty: urnd
	Logo     string     `mapstructure:"logo"`   // a file; empty: none
	Accent   string     `mapstructure:"accent"` // "#rrggbb"; empty: that of urnd
	Contact  string     `mapstructure:"contact"`
	Imprint  string     `mapstructure:"imprint"`
	Privacy  string     `mapstructure:"privacy"`
	Language string     `mapstructure:"language"`
	Examples []string   `mapstructure:"examples"`
	Texts    []SiteText `mapstructure:"texts"`
	Sitemap  bool       `mapstructure:"sitemap"` // of the names of the registry
}

// SiteText is what the site says in one language.
type SiteText struct {
	Language string `mapstructure:"language"`
	Name     string `mapstructure:"name"`
	Welcome  string `mapstructure:"welcome"`
}

// languages are those that pages are written in.
func languages() []string { return []string{"en", "de", "fr", "es", "zh"} }

func siteSettings() []Setting {
	return []Setting{
		// Listings that are stored are fresh for gateways.ttl only.
		{
			Path: "site", Invalidates: Nothing,
			Doc: "What readers see of your site on its pages: see docs/pages.md. Pages that are stored already, of " +
				"listings, show a change when they are made anew.",
		},
		{
			Path: "site.name", Form: "text", check: checkSiteName,
			Doc: "the name above each page; empty: urnd",
		},
		{
			Path: "site.logo", Form: "path",
			Doc: "The file of a picture beside the name: an SVG with a viewBox, or a PNG, of at most 64 KiB. It is " +
				"read when the configuration is loaded, and served at /logo.svg or /logo.png.",
		},
		{
			Path: "site.accent", Form: "colour, such as '#0645ad'", check: checkAccent,
			Doc: "The colour of links and buttons. It is made darker on light pages, and lighter on dark ones, until " +
				"it can be read (WCAG 2.2, contrast of 4.5 to 1).",
		},
		{
			Path: "site.contact", Form: "URI, such as mailto:library@example.org", check: checkSiteContact,
			Doc: "whom readers ask, below each page",
		},
		{Path: "site.imprint", Form: "URL", check: checkSiteURL, Doc: "the page with who is responsible, below each page"},
		{Path: "site.privacy", Form: "URL", check: checkSiteURL, Doc: "the page about privacy, below each page"},
		{
			Path: "site.language", Default: "en", OneOf: languages(),
			Doc: "The language of pages for readers whose browser prefers none of those that pages are written in.",
		},
		{
			Path: "site.examples", Default: []string{}, Form: "identifier", check: checkExamples,
			Doc: "Identifiers that the front page offers, at most 10: names of yours, best.", Sample: "examples: [urn:isbn:9780395363416, 'doi:10.1000/182']",
		},
		{
			Path: "site.sitemap",
			Doc: "List all names of the registry that are in use, and not for trial, for search engines: at /sitemap.xml, to " +
				"which robots.txt leads. listen.public_url must be set.",
		},
		{
			Path: "site.texts", Default: []SiteText{}, Form: tableForm, Elements: siteTextElements(),
			Doc:    "What the site says in a language, in place of its name and of the first sentence of the front page. A list:",
			Sample: "texts:\n  - language: de\n    name: Nationalbibliothek\n    welcome: Hier finden Sie, was unsere URNs benennen.",
		},
	}
}

func siteTextElements() []Setting {
	return []Setting{
		{Path: "site.texts.*.language", OneOf: languages(), Doc: "the language; it must be set"},
		{Path: "site.texts.*.name", Form: "text", Doc: "the name of the site in it"},
		{Path: "site.texts.*.welcome", Form: "text", Doc: "the first sentences of the front page in it"},
	}
}

// The bounds of texts of a site, in characters, and of its examples.
const (
	maxSiteName    = 80
	maxSiteWelcome = 1000
	maxExamples    = 10
	maxExample     = 100
)

func checkSiteName(f *Faults, path string, value any) {
	text, _ := value.(string)
	checkShown(f, path, text, maxSiteName)
}

// checkShown checks a text that is shown.
func checkShown(f *Faults, path, text string, most int) {
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }):
		f.add(path, "%q has octets that are no text", text)
	case utf8.RuneCountInString(text) > most:
		f.add(path, "has more than %d characters", most)
	}
}

func checkAccent(f *Faults, path string, value any) {
	text, _ := value.(string)
	if text != "" && !regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`).MatchString(text) {
		f.add(path, "%q is not a colour such as '#0645ad': a number sign and six hexadecimal digits, in quotes", text)
	}
}

func checkSiteContact(f *Faults, path string, value any) {
	contact, _ := value.(string)
	if contact == "" {
		return
	}
	u, err := uri.Parse(contact)
	if err != nil || u.Check() != nil || !slices.Contains([]string{"mailto", "https", "http", "tel"}, u.Scheme()) {
		help := ""
		if strings.Contains(contact, "@") && !strings.Contains(contact, ":") {
			help = ": write mailto:" + contact
		}
		f.add(path, "%q is not a URI with mailto:, https:, http: or tel:%s", contact, help)
	}
}

func checkSiteURL(f *Faults, path string, value any) {
	text, _ := value.(string)
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		f.add(path, "%q is not a URL with https:// or http://, a host and no user", text)
	}
}

func checkExamples(f *Faults, path string, value any) {
	examples, _ := value.([]string)
	if len(examples) > maxExamples {
		f.add(path, "has more than %d identifiers", maxExamples)
	}
	for i, example := range examples {
		if example == "" {
			f.add(index(path, i), "is empty")
		}
		checkShown(f, index(path, i), example, maxExample)
	}
}

// checkSiteTexts checks site.texts.
func checkSiteTexts(f *Faults, texts []SiteText) {
	seen := make(map[string]bool)
	for i, text := range texts {
		at := index("site.texts", i)
		Setting{Path: at + ".language", OneOf: languages()}.validate(f, text.Language)
		if seen[text.Language] {
			f.add(at+".language", "%q is there twice", text.Language)
		}
		seen[text.Language] = true
		checkShown(f, at+".name", text.Name, maxSiteName)
		checkShown(f, at+".welcome", text.Welcome, maxSiteWelcome)
	}
}
