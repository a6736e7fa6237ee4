package pages

import (
	"html/template"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// listing is the content of the page of a scheme.Listing: its texts are clean, and its links safe. Of
// Table, Menu, Thread and Found one has the items.
type listing struct {
	Frame
	Heading, URI    string
	Top, Bottom     nav
	Warnings        []string
	Incomplete      string
	Open            *link
	Notes           []string
	Folds, Unfolded bool // Notes are in an element that can be opened, and are open
	Properties      []row
	Search          *search
	Table           *table
	Menu, Thread    template.HTML // the items of a list
	Text            string
	Found           template.HTML
	FoundTitle      string
	Empty           string // what is said in place of items
}

// nav is links to other pages.
type nav struct {
	Label string
	Links []navLink
}

type navLink struct {
	Word string
	Link link
}

// search is a form, whose action leads to a URI with the words.
type search struct {
	Label  string
	Action template.HTMLAttr
	Hidden []hidden
}

type hidden struct{ Name, Value string }

// Listing returns the page of a listing. through returns where the page links to for a URI: the URI
// itself for clients that ask a proxy for it, or a path of this server with a query.
func (w Writer) Listing(l *scheme.Listing, through func(string) string) Page {
	w = w.ForFetching() // who has it was allowed to
	to := w.linker(through)
	page := listing{
		Heading: line(l.Title), URI: line(l.URI), Incomplete: line(l.Incomplete), Text: lines(l.Text),
		Top: nav{Label: w.Text("frame.where")}, Bottom: nav{Label: w.Text("listing.more")}, Search: to.search(l), Open: to.open(l.Open),
	}
	title := page.Heading + " - " + page.URI
	if page.Heading == "" || page.Heading == page.URI {
		page.Heading, title = page.URI, page.URI
	}
	page.Frame = w.frame(title, to.place(), "")
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

// A greeting longer than these is folded where it is not what the page is about.
const (
	manyNotes  = 3
	longNotes  = 400 // octets
	manyBreaks = 6
)

// note shows what the server says.
func (page *listing) note(l *scheme.Listing) {
	for _, note := range l.Notes {
		page.Notes = append(page.Notes, lines(note))
	}
	all := strings.Join(page.Notes, "\n")
	page.Folds = len(l.Items) > 0
	page.Unfolded = len(l.Notes) <= manyNotes && len(all) <= longNotes && strings.Count(all, "\n") <= manyBreaks
}

// items shows the items in the form that suits the kind of the listing.
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

// empty says that there are no items, where some are expected.
func (w Writer) empty(l *scheme.Listing) string {
	id := "listing.empty_" + l.Kind
	if l.Search != nil || l.Incomplete != "" || !w.Has(id) {
		return ""
	}
	return w.Text(id)
}

// maxText bounds the octets of a text of one line that are shown.
const maxText = 1000

// line returns a text of a server as it is shown, without what could disturb the page around it.
func line(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return scheme.Text(s)
}

// lines is line for a text of several lines, of any length.
func lines(s string) string { return scheme.TextLines(s) }
