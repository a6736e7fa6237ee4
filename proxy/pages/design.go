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

// Site is what makes pages those of a site. The zero value is that of urnd without settings.
type Site struct {
	Name     string // "" is "urnd"
	Logo     *Logo  // nil: none
	Accent   string // the colour of links and buttons, such as "#0645ad"; "" is that of urnd
	Language Language
	// Contact is whom readers ask: a URI, or any text; Imprint and Privacy are URLs. "" are none.
	Contact, Imprint, Privacy string
	Texts                     [languages]SiteText
	// Examples are identifiers that the start page offers.
	Examples []string
	// Namespaces are those of which names lead somewhere by a rule, by their identifiers, and Known how many there are.
	Namespaces []string
	Known      int
	// All are the namespaces whose rules are known, in the order of their identifiers.
	All []Namespace
	// Browses is whether all readers may list the names of the registry.
	Browses bool
	// Base is the path that a proxy in front has removed, such as "/resolver"; "" for none.
	Base string
}

// SiteText is what a site says in one language; "" is what Site and urnd say.
type SiteText struct{ Name, Welcome string }

// Design makes the pages of a site. It is immutable, and safe for concurrent use.
type Design struct {
	site                                                       Site
	texts                                                      [languages]*messages.Texts
	matcher                                                    language.Matcher
	templates                                                  localized
	page, home, spaces, listings, names, namesList, ways, docs sheet
	// panels are those of the admin interface; the live ones have a script.
	panels, livePanels [Tables + 1]sheet
	isApart            bool
}

// New returns the design of a site.
func New(site Site) *Design {
	texts := newTexts()
	d := &Design{
		site: site, matcher: newMatcher(),
		texts: texts, templates: newLocalized(files, texts),
	}
	const mostNamespaces = 60 // on the start page, which leads to all
	d.site.Namespaces = site.Namespaces[:min(len(site.Namespaces), mostNamespaces)]
	if d.site.Name == "" {
		d.site.Name = "urnd"
	}
	d.page, d.home, d.spaces = newSheet(site), newSheet(site, "home", "spaces"), newSheet(site, "spaces")
	d.names, d.namesList = newSheet(site, "spaces", "name", "way").withImages().withScripts(), newSheet(site, "spaces", "names")
	d.listings, d.docs, d.ways = newSheet(site, "listing"), newSheet(site, "docs"), newSheet(site, "spaces", "name", "way", "explain")
	d.panels[Forms], d.panels[Tables] = newSheet(site, "docs", "panel", "editor"), newSheet(site, "panel", "status")
	for i := range d.panels {
		d.livePanels[i] = d.panels[i].withEvents().withScripts()
	}
	return d
}

// Apart returns the design for another server of urnd, such as that of administrators, which has none of the pages for readers.
func (d *Design) Apart() *Design {
	apart := *d
	apart.isApart, apart.site.Base = true, ""
	return &apart
}

// Writer makes the pages of a design in one language. It is a value.
type Writer struct {
	*messages.Texts

	design   *Design
	language Language
	isChosen bool // by ?lang=, which links to pages of this server keep
	fetches  bool // for a reader who may have URLs fetched
}

// ForFetching returns the writer for a reader who may have URLs fetched: its pages lead to /fetch. No cache keeps them for others.
func (w Writer) ForFetching() Writer {
	w.fetches = true
	return w
}

// For returns the writer for who sends a value of Accept-Language, "" for none, or has chosen a language: see Chosen.
func (d *Design) For(accept string) Writer {
	tag, isChosen := strings.CutPrefix(accept, chosen)
	w := d.In(d.Language(tag))
	w.isChosen = isChosen
	return w
}

// Chosen returns what takes the place of a value of Accept-Language where a reader has chosen a language by ?lang=, by its tag: links
// to pages of this server keep that.
func Chosen(tag string) string { return chosen + tag }

// chosen is before a tag that was chosen: no value of Accept-Language begins so.
const chosen = "="

// In returns the writer of a language.
func (d *Design) In(l Language) Writer { return Writer{Texts: d.texts[l], design: d, language: l} }

// Language returns that of its pages.
func (w Writer) Language() Language { return w.language }

// Accept returns one value for all by which For returns this writer.
func (w Writer) Accept() string {
	if w.isChosen {
		return Chosen(w.language.Tag())
	}
	return w.language.Tag()
}

// Logo returns that of the site, nil for none.
func (d *Design) Logo() *Logo { return d.site.Logo }

// Path returns the path and query of a page of this server as browsers must ask for it, where a proxy in front has removed a path.
func (d *Design) Path(target string) string { return d.site.Base + target }

// name returns that of the site.
func (w Writer) name() string {
	if name := w.design.site.Texts[w.language].Name; name != "" {
		return name
	}
	return w.design.site.Name
}

// Frame is what is around the content of every page, which embeds it: the title, the site, where to go, whom to ask.
type Frame struct {
	Lang  string
	Title string
	Head  template.HTML // the style, which the policy names by its hash
	Name  string
	// Start is the attribute of the link to the start page, "" where the page is shown at the address of another server.
	Start template.HTMLAttr
	Logo  template.HTML
	// Search are the attributes of the link by which browsers search here, "" where they cannot.
	Search template.HTMLAttr
	// Nav leads to the pages of this server, Crumbs to what is above this one, and Languages to it in others.
	Nav, Crumbs, Languages []Entry
	Contact                link
	Imprint, Privacy       template.HTMLAttr
	// IsUnindexed is whether search engines are asked not to show the page.
	IsUnindexed bool
	Account     *Account // who has logged in to the admin interface; nil for nobody
}

// Entry is a page in a list of pages: without a link where it is this one.
type Entry struct {
	Word string
	Link link
	Lang string // of the text, "" for that of the page
}

// place is where a page is shown, which says what it may link to.
type place uint8

const (
	here      place = iota // at an address of this server
	host                   // at a web host whose paths are names
	elsewhere              // at the address of another server, by its proxy
)

// frame returns the frame of a page, which is at a path of this server, "" for one that is not known by that.
func (w Writer) frame(title string, at place, path string) Frame {
	site := &w.design.site
	f := Frame{
		Lang: w.language.Tag(), Title: title, Name: w.name(), Contact: contact(site.Contact),
		Imprint: w.outside(site.Imprint), Privacy: w.outside(site.Privacy), Head: w.design.page.element,
	}
	if title != f.Name {
		f.Title += " – " + f.Name
	}
	if at == elsewhere || w.design.isApart {
		f.Title = title
		if at == here { // an error of the admin interface: its start has all other pages
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
		if site.Browses {
			f.Nav = append(f.Nav, w.entry(w.Text("names.browse"), pathNames, path))
		}
	}
	return f
}

// Chosen returns the parameter by which links keep the language that was chosen, with the question mark before it, "" for none.
func (w Writer) Chosen() string { return w.query() }

// query returns the parameter by which a page of this server keeps the language that was chosen.
func (w Writer) query() string {
	if !w.isChosen {
		return ""
	}
	return "?lang=" + w.language.Word()
}

// parameter is query for targets that have a query already.
func (w Writer) parameter() string { return strings.Replace(w.query(), "?", "&", 1) }

// entry returns a link to a page of this server, or its name where that is the page at a path.
func (w Writer) entry(word, target, path string) Entry {
	if target == path {
		return Entry{Word: word}
	}
	return Entry{Word: word, Link: link{w.href(target + w.query()), word}}
}

// inLanguages returns links to a page in all languages: at returns its target by the parameter.
func (w Writer) inLanguages(at func(parameter string) string) []Entry {
	all := make([]Entry, 0, languages)
	for _, l := range Languages() {
		e := Entry{Word: l.ownName(), Lang: l.Tag()}
		if l != w.language {
			e.Link = link{w.href(at("lang=" + l.Word())), l.ownName()}
		}
		all = append(all, e)
	}
	return all
}

// href returns the attribute of a link to a target of this server.
func (w Writer) href(target string) template.HTMLAttr { return hrefOf(w.design.Path(target)) }

// outside returns the attribute of a link to a URL of the site, which its settings have checked; "" for none.
func (w Writer) outside(url string) template.HTMLAttr {
	if url == "" {
		return ""
	}
	return hrefOf(url)
}

// InEnglish returns a text that is in English on every page, with a mark where the page is not.
func (f Frame) InEnglish(text string) template.HTML {
	if text = template.HTMLEscapeString(text); !f.IsEnglish() {
		text = `<span lang="en">` + text + "</span>"
	}
	return template.HTML(text) //nolint:gosec // escaped
}

// IsEnglish reports whether the page is in English: what is in English needs no mark then.
func (f Frame) IsEnglish() bool { return f.Lang == English.Tag() }

// Page is a page with what a response says of it.
type Page struct {
	Body     []byte
	Language string // the value of Content-Language
	Policy   string // that of Content-Security-Policy, by which it has no style but its own
}

// Vary are the fields of a request that say which page it gets, besides Accept, by which there is one at all.
const Vary = "Accept-Language"

// execute returns the page that a template makes of its data.
func (w Writer) execute(file string, s *sheet, value any) Page {
	var b bytes.Buffer
	p := Page{Language: w.language.Tag(), Policy: s.policy}
	if err := w.design.templates[w.language].ExecuteTemplate(&b, file, value); err != nil { // it cannot fail with these types
		p.Body = []byte("<!DOCTYPE html><title>urnd</title><p>This page failed.")
		return p
	}
	p.Body = b.Bytes()
	return p
}
