package pages

import (
	"bytes"
	"embed"
	"html/template"
	"strings"

	"golang.org/x/text/language"

	"github.com/urnd/urnd/proxy/pages/messages"
)

//go:embed *.html
var files embed.FS

// Site is the configuration of a site. The zero value is the default of urnd.
type Site struct {
	Name     string // "" is "urnd"
	Logo     *Logo  // nil for none
	Accent   string // the colour of links and buttons, such as "#0645ad"; "" is the default
	Language Language
	// Contact is shown to readers with questions: a URI, or any text. Imprint and Privacy are URLs. "" shows
	// none.
	Contact, Imprint, Privacy string
	Texts                     [languages]SiteText
	// Examples are the identifiers offered on the start page.
	Examples []string
	// Namespaces are the NIDs of namespaces whose names are resolved by a rule, and Known is the number of
	// all namespaces.
	Namespaces []string
	Known      int
	// All are the namespaces with known rules, ordered by NID.
	All []Namespace
	// HasNameList is true if all readers may list the names of the registry.
	HasNameList bool
	// Base is the path prefix that a reverse proxy removes, such as "/resolver"; "" for none.
	Base string
}

// SiteText is the text of a site in one language; "" is replaced by that of Site, or the default of urnd.
type SiteText struct{ Name, Welcome string }

// Design renders the pages of a site. It is immutable, and safe for concurrent use.
type Design struct {
	site                                                         Site
	texts                                                        [languages]*messages.Texts
	matcher                                                      language.Matcher
	templates                                                    localized
	page, home, spaces, listings, names, namesList, traces, docs sheet
	// panels are the sheets of the admin interface; livePanels permit a script.
	panels, livePanels [Tables + 1]sheet
	standalone         bool
}

// New returns the design of a site.
func New(site Site) *Design {
	texts := newTexts()
	d := &Design{
		site: site, matcher: newMatcher(),
		texts: texts, templates: newLocalized(files, texts),
	}
	const mostNamespaces = 60 // on the start page, which links to the complete list
	d.site.Namespaces = site.Namespaces[:min(len(site.Namespaces), mostNamespaces)]
	if d.site.Name == "" {
		d.site.Name = "urnd"
	}
	d.page, d.home, d.spaces = newSheet(site), newSheet(site, "home", "spaces"), newSheet(site, "spaces")
	d.names, d.namesList = newSheet(site, "spaces", "name", "trace").withImages().withScripts(),
		newSheet(site, "spaces", "names")
	d.listings, d.docs, d.traces = newSheet(site, "listing"), newSheet(site, "docs"),
		newSheet(site, "spaces", "name", "trace", "explain")
	d.panels[Forms], d.panels[Tables] = newSheet(site, "docs", "panel", "editor"), newSheet(site, "panel", "status")
	for i := range d.panels {
		d.livePanels[i] = d.panels[i].withEvents().withScripts()
	}
	return d
}

// Standalone returns the design for another server of urnd, such as the admin interface, without links to the
// pages for readers.
func (d *Design) Standalone() *Design {
	apart := *d
	apart.standalone, apart.site.Base = true, ""
	return &apart
}

// Writer renders the pages of a design in one language. It is a value.
type Writer struct {
	*messages.Texts

	design   *Design
	language Language
	chosen   bool // by ?lang=, which links to pages of this server preserve
	fetches  bool // for a reader who may use /fetch
}

// ForFetching returns the writer for a reader who is authorized to use /fetch: its pages link there. They
// must not be stored by shared caches.
func (w Writer) ForFetching() Writer {
	w.fetches = true
	return w
}

// For returns the writer for a value of Accept-Language, "" for none, or for a selected language: see Chosen.
func (d *Design) For(accept string) Writer {
	tag, isChosen := strings.CutPrefix(accept, chosen)
	w := d.In(d.Language(tag))
	w.chosen = isChosen
	return w
}

// Chosen returns the replacement of Accept-Language for a language selected by ?lang=, by its tag. Links to
// pages of this server preserve the selection.
func Chosen(tag string) string { return chosen + tag }

// chosen is the prefix of a selected tag: no value of Accept-Language begins with it.
const chosen = "="

// In returns the writer of a language.
func (d *Design) In(l Language) Writer { return Writer{Texts: d.texts[l], design: d, language: l} }

// Language returns the language of the pages.
func (w Writer) Language() Language { return w.language }

// Accept returns the canonical argument of For for this writer: a cache key.
func (w Writer) Accept() string {
	if w.chosen {
		return Chosen(w.language.Tag())
	}
	return w.language.Tag()
}

// Logo returns the logo of the site, nil for none.
func (d *Design) Logo() *Logo { return d.site.Logo }

// Path returns the path and query of a page of this server as seen by browsers, with Base in front.
func (d *Design) Path(target string) string { return d.site.Base + target }

// name returns the name of the site.
func (w Writer) name() string {
	if name := w.design.site.Texts[w.language].Name; name != "" {
		return name
	}
	return w.design.site.Name
}

// Frame is the frame of every page, which embeds it: title, site, navigation and contact.
type Frame struct {
	Lang  string
	Title string
	Head  template.HTML // the style element, whose hash is in the policy
	Name  string
	// Start is the attribute of the link to the start page, "" for a page shown at the URL of another server.
	Start template.HTMLAttr
	Logo  template.HTML
	// Search are the attributes of the OpenSearch link, "" for none.
	Search template.HTMLAttr
	// Nav links to the pages of this server, Crumbs to the pages above this one, and Languages to its
	// translations.
	Nav, Crumbs, Languages []Entry
	Contact                link
	Imprint, Privacy       template.HTMLAttr
	// NoIndex is true if search engines must not index the page.
	NoIndex bool
	Account *Account // the user of the admin interface; nil without a session
}

// Entry is an item in a list of pages; the current page has no link.
type Entry struct {
	Label string
	Link  link
	Lang  string // of the text, "" for the language of the page
}

// place is the kind of URL of a page, which determines the links that are possible.
type place uint8

const (
	here      place = iota // a URL of this server
	host                   // a web host whose paths are names
	elsewhere              // a URL of another server, through the proxy
)

// frame returns the frame of a page. path is its path on this server, "" if it has no fixed path.
func (w Writer) frame(title string, at place, path string) Frame {
	site := &w.design.site
	f := Frame{
		Lang: w.language.Tag(), Title: title, Name: w.name(), Contact: contact(site.Contact),
		Imprint: w.outside(site.Imprint), Privacy: w.outside(site.Privacy), Head: w.design.page.element,
	}
	if title != f.Name {
		f.Title += " – " + f.Name
	}
	if at == elsewhere || w.design.standalone {
		f.Title = title
		if at == here { // an error of the admin interface: its start page links to all others
			f.Nav = []Entry{w.entry(w.Text("frame.start"), "/", path)}
		}
		return f
	}
	f.Start = w.href("/" + w.query())
	f.Logo = site.Logo.element(site.Base)
	if at == here {
		f.Search = w.search()
		f.Nav = []Entry{w.entry(w.Text("frame.start"), "/", path)}
		if w.fetches {
			f.Nav = append(f.Nav, w.entry(w.Text("fetch.title"), pathFetch, path))
		}
		if len(site.All) > 0 {
			f.Nav = append(f.Nav, w.entry(w.Text("home.namespaces"), pathNamespaces, path))
		}
		if site.HasNameList {
			f.Nav = append(f.Nav, w.entry(w.Text("names.browse"), pathNames, path))
		}
	}
	return f
}

// Chosen returns the query parameter that preserves the selected language, with a leading question mark; ""
// for none.
func (w Writer) Chosen() string { return w.query() }

// query returns the query parameter that preserves the selected language.
func (w Writer) query() string {
	if !w.chosen {
		return ""
	}
	return "?lang=" + w.language.ShortTag()
}

// parameter is query for URLs that have a query already.
func (w Writer) parameter() string { return strings.Replace(w.query(), "?", "&", 1) }

// entry returns a link to a page of this server, without href if it is the current page.
func (w Writer) entry(word, target, path string) Entry {
	if target == path {
		return Entry{Label: word}
	}
	return Entry{Label: word, Link: link{w.href(target + w.query()), word}}
}

// inLanguages returns links to the translations of a page: at returns its URL with a language parameter.
func (w Writer) inLanguages(at func(parameter string) string) []Entry {
	all := make([]Entry, 0, languages)
	for _, l := range Languages() {
		e := Entry{Label: l.ownName(), Lang: l.Tag()}
		if l != w.language {
			e.Link = link{w.href(at("lang=" + l.ShortTag())), l.ownName()}
		}
		all = append(all, e)
	}
	return all
}

// href returns the href attribute for a path of this server.
func (w Writer) href(target string) template.HTMLAttr { return hrefOf(w.design.Path(target)) }

// outside returns the href attribute for a URL of the site, which the configuration has validated; "" for
// none.
func (w Writer) outside(url string) template.HTMLAttr {
	if url == "" {
		return ""
	}
	return hrefOf(url)
}

// InEnglish returns a text that is always in English, with a lang attribute on pages in other languages.
func (f Frame) InEnglish(text string) template.HTML {
	if text = template.HTMLEscapeString(text); !f.IsEnglish() {
		text = `<span lang="en">` + text + "</span>"
	}
	return template.HTML(text) //nolint:gosec // escaped
}

// IsEnglish reports whether the page is in English: English text needs no lang attribute then.
func (f Frame) IsEnglish() bool { return f.Lang == English.Tag() }

// Page is a page with header field values of its response.
type Page struct {
	Body     []byte
	Language string // the value of Content-Language
	Policy   string // the value of Content-Security-Policy, which permits only the page's own style
}

// Vary names the request header fields that select a page, besides Accept.
const Vary = "Accept-Language"

// execute renders a template with its data.
func (w Writer) execute(file string, s *sheet, value any) Page {
	var b bytes.Buffer
	p := Page{Language: w.language.Tag(), Policy: s.policy}
	// It cannot fail with these types.
	if err := w.design.templates[w.language].ExecuteTemplate(&b, file, value); err != nil {
		p.Body = []byte("<!DOCTYPE html><title>urnd</title><p>This page failed.")
		return p
	}
	p.Body = b.Bytes()
	return p
}
