package pages

import (
	"html/template"
	"net/url"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// listing is the data of the page of a scheme.Listing. Its texts are sanitized, and its links safe. At most
// one of Table, Menu, Thread and Found has the items.
type listing struct {
	Frame
	Heading, URI    string
	Top, Bottom     nav
	Warnings        []string
	Incomplete      string
	Open            *link
	Notes           []string
	Folds, Unfolded bool // Notes are in a details element, and it is open
	Properties      []row
	Search          *search
	Table           *table
	Menu, Thread    template.HTML // list items
	Text            string
	Found           template.HTML
	FoundTitle      string
	Empty           string // text in place of items
}

// nav is a group of links to other pages.
type nav struct {
	Label string
	Links []navLink
}

type navLink struct {
	Label string
	Link  link
}

// search is a form whose action is a URI with the search words.
type search struct {
	Label  string
	Action template.HTMLAttr
	Hidden []hidden
}

type hidden struct{ Name, Value string }

// Listing returns the page of a listing. through maps a URI to the target of a link: to itself for clients
// that use the proxy, or to a path of this server with a query.
func (w Writer) Listing(l *scheme.Listing, through func(string) string) Page {
	w = w.ForFetching() // the client is authorized for listings
	to := w.linker(through)
	page := listing{
		Heading: line(l.Title), URI: line(l.URI), Incomplete: line(l.Incomplete), Text: lines(l.Text),
		Top: nav{Label: w.Text("frame.where")}, Bottom: nav{Label: w.Text("listing.more")}, Search: to.search(l),
		Open: to.open(l.Open),
	}
	title := page.Heading + " - " + page.URI
	if page.Heading == "" || page.Heading == page.URI {
		page.Heading, title = page.URI, page.URI
	}
	page.Frame = w.frame(plaintext.OneLine(title), to.place(), "")
	page.Head = w.design.listings.element
	page.Top.Links = to.crumbs(l)
	for _, part := range []struct {
		word string
		link *scheme.Link
	}{{w.Text("listing.up"), l.Parent}, {w.Text("listing.previous"), l.Previous}, {w.Text("listing.next"), l.Next}} {
		if part.link == nil {
			continue
		}
		one := navLink{part.word, to.link(part.link.Text, part.link.URI)}
		page.Top.Links = append(page.Top.Links, one)
		if part.link != l.Parent {
			page.Bottom.Links = append(page.Bottom.Links, one)
		}
	}
	for _, warning := range l.Warnings {
		page.Warnings = append(page.Warnings, line(warning))
	}
	for _, p := range l.Properties {
		page.Properties = append(page.Properties, row{line(p.Name), to.link(p.Value, p.URI)})
	}
	page.note(l)
	page.items(l, to)
	return w.execute("listing.html", &w.design.listings, page)
}

// Limits above which the greeting of a server is folded if the page has items.
const (
	manyNotes  = 3
	longNotes  = 400 // bytes
	manyBreaks = 6
)

// note shows the notes of the server.
func (page *listing) note(l *scheme.Listing) {
	for _, note := range l.Notes {
		page.Notes = append(page.Notes, lines(note))
	}
	all := strings.Join(page.Notes, "\n")
	page.Folds = len(l.Items) > 0
	page.Unfolded = len(l.Notes) <= manyNotes && len(all) <= longNotes && strings.Count(all, "\n") <= manyBreaks
}

// items shows the items in the form for the kind of the listing.
func (page *listing) items(l *scheme.Listing, to linker) {
	switch {
	case len(l.Items) == 0:
		page.Empty = to.writer.empty(l)
	case l.Kind == scheme.KindDirectory || l.Kind == scheme.KindGroups:
		page.Table = tableOf(l, to)
	case l.Kind == scheme.KindMenu:
		shown := itemsFor(len(l.Items), to)
		shown.menu(l.Items)
		page.Menu = shown.html()
	case l.Kind == scheme.KindGroup:
		shown := itemsFor(len(l.Items), to)
		shown.thread(l.Items)
		page.Thread = shown.html()
	default:
		shown := itemsFor(len(l.Items), to)
		shown.found(l.Items)
		page.Found = shown.html()
		if l.Kind == scheme.KindArticle {
			page.FoundTitle = to.writer.Text("listing.files")
		}
	}
}

// empty returns the text for a listing without items, where items are expected.
func (w Writer) empty(l *scheme.Listing) string {
	id := "listing.empty_" + l.Kind
	if l.Search != nil || l.Incomplete != "" || !w.Has(id) {
		return ""
	}
	return w.Text(id)
}

// maxText limits a single-line text, in bytes.
const maxText = 1000

// line returns a text of a server, sanitized and shortened.
func line(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return scheme.DecodeText(s)
}

// lines is line for a text of several lines, without a limit.
func lines(s string) string { return scheme.DecodeLines(s) }

// linker returns links for the URIs in a listing.
type linker struct {
	writer  Writer
	through func(string) string
	own     bool // the page is one of this server, and its links lead through it
}

func (w Writer) linker(through func(string) string) linker {
	return linker{w, through, strings.HasPrefix(through("urn:x:x"), "/")}
}

// place returns the kind of URL of the page.
func (to linker) place() place {
	if to.own {
		return here
	}
	return elsewhere
}

// isSafe reports whether a page may link to a URI: by its scheme (see uri.URI.IsLink), or because it is a
// file, which handlers link to. Other URIs, such as javascript:, remain text even if a malicious server
// deceives a handler.
func isSafe(text string) bool {
	u, err := uri.Parse(text)
	if err != nil || u.Check() != nil {
		return false
	}
	return u.IsLink() || uri.EqualFold(u.Scheme(), "file")
}

// isWeb reports whether browsers retrieve a URI themselves.
func isWeb(text string) bool {
	name, _, _ := strings.Cut(text, ":")
	return uri.EqualFold(name, "http") || uri.EqualFold(name, "https")
}

// target returns the target of a link to a URI, "" for an unsafe one, and whether it is an http or https URL.
// These are linked to directly, without a referrer. All others are mapped by through: urnd retrieves them,
// explains them (telnet, mailto, prospero), or resolves the name.
func (to linker) target(u string) (href string, web bool) {
	switch {
	case u == "" || !isSafe(u):
		return "", false
	case isWeb(u):
		return u, true
	default:
		return to.at(u), false
	}
}

// at returns the result of through as seen by browsers. A link to /fetch preserves the selected language: its
// URI is percent-encoded, so the parameter is not part of it.
func (to linker) at(u string) string {
	target := to.through(u)
	switch {
	case !to.own:
		return target
	case strings.HasPrefix(target, pathFetch+"?"):
		target += to.writer.parameter()
	}
	return to.writer.design.Path(target)
}

// href returns the attributes of a link to a URI, "" for an unsafe one.
func (to linker) href(u string) template.HTMLAttr {
	switch target, web := to.target(u); {
	case target == "":
		return ""
	case web:
		return hrefOf(target) + ` rel="noreferrer"`
	default:
		return hrefOf(target)
	}
}

// link returns a link with a text, which defaults to the URI.
func (to linker) link(words, u string) link {
	if words == "" {
		words = u
	}
	return link{to.href(u), line(words)}
}

// open returns the link that a program of the user opens: always the URI itself.
func (to linker) open(l *scheme.Link) *link {
	if l == nil || !isSafe(l.URI) {
		return nil
	}
	words := l.Text
	if words == "" {
		words = to.writer.Text("listing.open", "Link", l.URI)
	}
	return &link{hrefOf(l.URI) + ` rel="noreferrer"`, line(words)}
}

// search returns the form of a search. On this server, it submits the prefix and the words, which route.Parse
// joins; otherwise the words are the query of the URI of the listing, to which handlers reply with a
// redirect. Submitting a form replaces the query of its action, so the parameters of the query become hidden
// fields.
func (to linker) search(l *scheme.Listing) *search {
	if l.Search == nil || !isSafe(l.URI) || !isSafe(l.Search.Prefix) {
		return nil
	}
	form := &search{Label: line(l.Search.Label)}
	if form.Label == "" {
		form.Label = to.writer.Text("listing.words")
	}
	action := l.URI
	if target := to.at(l.Search.Prefix); strings.HasPrefix(target, "/") {
		path, query, _ := strings.Cut(target, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			return nil
		}
		for name, all := range values {
			form.Hidden = append(form.Hidden, hidden{name, all[0]})
		}
		action = path
	}
	form.Action = template.HTMLAttr(`action="` + template.HTMLEscapeString(action) + `"`) //nolint:gosec // escaped
	return form
}

// maxCrumbs limits the parent directories that are shown: each link repeats the previous ones.
const maxCrumbs = 32

// crumbs returns links to the parents of an FTP directory, from the login directory. For other listings, the
// URI does not tell the parents, or these need not be available.
func (to linker) crumbs(l *scheme.Listing) []navLink {
	u, err := uri.Parse(l.URI)
	if err != nil || l.Kind != scheme.KindDirectory || !uri.EqualFold(u.Scheme(), "ftp") {
		return nil
	}
	path := strings.TrimSuffix(strings.TrimPrefix(u.Path(), "/"), "/")
	authority, ok := u.Authority()
	if path == "" || !ok {
		return nil
	}
	base, names := "ftp://"+authority+"/", strings.Split(path, "/")
	if len(names) > maxCrumbs {
		return nil
	}
	links := []navLink{{"", to.link(authority, base)}}
	for _, name := range names[:len(names)-1] {
		base += name + "/"
		words, err := url.PathUnescape(name)
		if err != nil || words == "" {
			words = "/"
		}
		links = append(links, navLink{"›", to.link(words, base)})
	}
	return links
}
