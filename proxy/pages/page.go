// Package pages renders the HTML pages of urnd for readers, and the frame of the admin pages, in all
// languages. Data of resolutions, listings and problems enter, with a configured design; HTML documents
// leave, each with its Content-Language and Content-Security-Policy. The language follows RFC 9110 section
// 12.5.4; pages conform to HTML and WCAG 2.2.
package pages

import (
	"bytes"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver"
)

// Type is the media type of pages, and ContentType the value of their Content-Type.
const (
	Type        = "text/html"
	ContentType = "text/html; charset=utf-8"
)

// row is a property with its value, which may be a link.
type row struct {
	Name string
	Link link
}

// link is a link on a page; it is plain text if Href is "".
type link struct {
	Href template.HTMLAttr // the whole attribute: template.URL would encode bytes such as "("
	Text string
}

// HTML returns a link as an element, or its text without Href.
func (l link) HTML() template.HTML { return l.around(template.HTMLEscapeString(l.Text)) }

// Code is HTML with the text as a code element.
func (l link) Code() template.HTML {
	return l.around(string(Code(l.Text)))
}

func (l link) around(element string) template.HTML {
	if l.Href != "" {
		element = "<a " + string(l.Href) + ">" + element + "</a>"
	}
	return template.HTML(element) //nolint:gosec // escaped, as the attribute is
}

// form is a form with one field.
type form struct {
	Action  template.HTMLAttr
	Typed   string
	Chosen  string // the ShortTag of the selected language; "" for none
	IsFirst bool   // it gets the focus when the page is loaded
	Finds   bool   // it also searches names by words of their titles
}

// form returns the form of a page of this server, with the submitted text.
func (w Writer) form(path, typed string) form {
	f := form{
		Typed: typed, Finds: w.design.site.HasNameList,
		Action: template.HTMLAttr(`action="` + //nolint:gosec // escaped
			template.HTMLEscapeString(w.design.Path(path)) + `"`),
	}
	if w.chosen {
		f.Chosen = w.language.ShortTag()
	}
	return f
}

// links returns links to locations, and for names links to this server. html/template alone would allow only
// http, https and mailto.
func (w Writer) links(uris []string) []link {
	var all []link
	for _, u := range uris {
		all = append(all, w.linkTo(u))
	}
	return all
}

func (w Writer) linkTo(u string) link {
	href := u
	if resolver.CheckLocation(u) != nil {
		href = w.design.Path("/" + u)
	}
	return link{hrefOf(href), u}
}

// hrefOf returns the href attribute for a validated URL, or a path of this server.
func hrefOf(href string) template.HTMLAttr {
	return template.HTMLAttr(`href="` + template.HTMLEscapeString(href) + `"`) //nolint:gosec // checked, and escaped
}

// contact returns a contact, which is any text: a link if it is a location or a mailto URI.
func contact(text string) link {
	if text == "" || resolver.CheckLocation(text) != nil {
		return link{Text: text}
	}
	return link{hrefOf(text), strings.TrimPrefix(text, "mailto:")}
}

// home is the data of the start page.
type home struct {
	Frame
	Welcome    string
	Form       form
	Example    link
	Fetch      link // to /fetch; "" for none
	Examples   []link
	Namespaces []space
	Known      string
	All        template.HTMLAttr // of the link to the list of namespaces; "" for none
	API        template.HTMLAttr // of the link to the API documentation; "" for none
}

// Home returns the start page, with a form for a name. isHost is true at a web host whose paths are names,
// where urnd has no other page.
func (w Writer) Home(isHost bool) Page {
	at, site := here, &w.design.site
	if isHost {
		at = host
	}
	page := home{
		Frame: w.frame(w.name(), at, "/"), Welcome: w.Text("home.welcome"), Form: w.form("/", ""),
		Example: link{w.href("/urn:ietf:rfc:2648"), "/urn:ietf:rfc:2648"}, Namespaces: w.leading(isHost),
	}
	page.Head, page.Form.IsFirst = w.design.home.element, true
	if welcome := site.Texts[w.language].Welcome; welcome != "" {
		page.Welcome = welcome
	}
	if !isHost {
		page.API = w.href(pathDocs + w.query())
		if w.fetches {
			page.Fetch = link{w.href(pathFetch + w.query()), w.Text("fetch.title")}
		}
		if len(site.All) > 0 {
			page.All = w.href(pathNamespaces + w.query())
		}
		page.Languages = w.inLanguages(func(parameter string) string { return "/?" + parameter })
	}
	for _, example := range site.Examples {
		page.Examples = append(page.Examples, w.example(example))
	}
	if site.Known > 0 {
		page.Known = w.Text("home.namespaces_known", "Number", site.Known)
	}
	return w.execute("home.html", &w.design.home, page)
}

// leading returns the namespaces whose names are resolved by a rule, linked to their pages if possible.
func (w Writer) leading(isHost bool) []space {
	site := &w.design.site
	all := make([]space, 0, len(site.Namespaces))
	for _, nid := range site.Namespaces {
		ns := w.design.namespace(nid)
		if ns == nil {
			ns = &Namespace{NID: nid}
		}
		all = append(all, w.space(ns, !isHost && len(site.All) > 0))
	}
	return all
}

// example returns a link that resolves an identifier: a URN by its path, other identifiers by the form.
func (w Writer) example(text string) link {
	if isURN(text) {
		return link{w.href("/" + text), text}
	}
	return link{w.href("/?uri=" + url.QueryEscape(text)), text}
}

// isURN reports whether a text begins with "urn:".
func isURN(text string) bool {
	const urn = "urn:"
	return len(text) > len(urn) && strings.EqualFold(text[:len(urn)], urn)
}

// Fetch returns the page with a form for a URL to be fetched.
func (w Writer) Fetch() Page {
	w = w.ForFetching()
	page := struct {
		Frame
		Form form
	}{w.frame(w.Text("fetch.title"), here, pathFetch), w.form(pathFetch, "")}
	page.Languages = w.inLanguages(func(parameter string) string { return pathFetch + "?" + parameter })
	return w.execute("fetch.html", &w.design.page, page)
}

// pathFetch and pathDocs are those of package route.
const (
	pathFetch = "/fetch"
	pathDocs  = "/docs"
)

// tablePage is the data of a page of properties, or of links.
type tablePage struct {
	Frame
	Heading string
	Links   []link
	Rows    []row
	Data    template.HTML // the same as structured data in a script element; "" for none
}

// List returns a page of links.
func (w Writer) List(title string, uris []string) Page {
	return w.execute("list.html", &w.design.page,
		tablePage{Frame: w.frame(plaintext.OneLine(title), here, ""), Heading: title, Links: w.links(uris)})
}

// Description returns a page with a table of properties.
func (w Writer) Description(title string, properties [][2]string) Page {
	return w.execute("description.html", &w.design.page,
		tablePage{Frame: w.frame(plaintext.OneLine(title), here, ""), Heading: title, Rows: w.rowsOf(properties)})
}

// DescriptionWith returns Description at a web host whose paths are names, with the same data as JSON-LD in a
// script element, which browsers do not execute.
func (w Writer) DescriptionWith(title string, properties [][2]string, ld []byte) Page {
	page := tablePage{Frame: w.frame(plaintext.OneLine(title), host, ""), Heading: title, Rows: w.rowsOf(properties)}
	// In JSON, "<" occurs only in strings: escaped, it cannot end the element.
	within := bytes.ReplaceAll(ld, []byte("<"), []byte(`\u003c`))
	page.Data = template.HTML(`<script type="application/ld+json">` + string(within) + `</script>`) //nolint:gosec // it is data
	return w.execute("description.html", &w.design.page, page)
}

// rowsOf returns rows, with links for values that are locations or names.
func (w Writer) rowsOf(properties [][2]string) []row {
	var rows []row
	for _, p := range properties {
		value := link{Text: p[1]}
		if isURN(p[1]) || resolver.CheckLocation(p[1]) == nil {
			value = w.linkTo(p[1])
		}
		rows = append(rows, row{p[0], value})
	}
	return rows
}

// RedirectBody returns the content of a redirect, for clients that do not follow it (RFC 9110 section 15.4).
func RedirectBody(location string) []byte { return AppendRedirectBody(nil, location) }

// AppendRedirectBody appends the result of RedirectBody to dst.
func AppendRedirectBody(dst []byte, location string) []byte {
	const before, between, after = `<!DOCTYPE html><title>Found</title><p>See <a href="`, `">`, "</a>.\n"
	if strings.ContainsAny(location, "\x00&<>\"'") {
		location = template.HTMLEscapeString(location)
	}
	dst = slices.Grow(dst, len(before)+len(between)+len(after)+2*len(location))
	dst = append(append(dst, before...), location...)
	dst = append(append(dst, between...), location...)
	return append(dst, after...)
}

// Docs is a page of API documentation, whose content another package has rendered.
type Docs struct {
	Title   string // of a group of operations, "" for the index
	Root    string // path of the index
	Path    string // path of the page
	Content Content
}

// Docs returns a page of API documentation.
func (w Writer) Docs(d *Docs) Page {
	title := w.Text("api.title")
	if d.Title != "" {
		title = d.Title + " – " + title
	}
	page := struct {
		Frame
		Heading string
		IsIndex bool
		Content Content
	}{w.frame(title, here, d.Path), d.Title, d.Title == "", d.Content}
	page.Head = w.design.docs.element
	if !page.IsIndex {
		page.Crumbs = []Entry{w.entry(w.Text("api.title"), d.Root, "")}
	}
	page.Languages = w.inLanguages(func(parameter string) string { return d.Path + "?" + parameter })
	return w.execute("docs.html", &w.design.docs, page)
}
