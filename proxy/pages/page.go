// Package pages renders the HTML pages.
package pages

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver"
)

// Type is the media type of pages, and ContentType the value of their Content-Type.
const (
	Type        = "text/html"
	ContentType = "text/html; charset=utf-8"
)

//go:embed layout.html page.html listing.html
var files embed.FS

// layout has the templates by file, which share a head. It escapes by context: no input can become markup.
var layout = template.Must(template.ParseFS(files, "*.html"))

// data is the content of a page: a problem, a list or a description; the zero value is the
// home page.
type data struct {
	Title   string
	Problem *api.Problem
	// Says is what a problem means for users, StatusText its status in words, and Typed what
	// the form holds.
	Says, StatusText, Typed string
	IsList                  bool   // List, which may be empty, is shown
	List                    []link // for a problem the suggestions
	Rows                    []row  // properties of a description
	Paths                   []row  // what a server offers
	// Since is since when a withdrawn name is, Reason why, as the end of a sentence, and Successors what
	// came instead. Contact is whom to ask, a link without attribute where it is no location.
	Since, Reason string
	Successors    []link
	Contact       link
	// Detail is that of the problem, as a sentence.
	Detail string
	// IsFetch is whether there is a form for a URL, alone or below a problem.
	IsFetch bool
	// Opens is a link to what a person has to open.
	Opens link
	// The input around the offending octet.
	Before, At, After string
}

// row is a property with its value, which may be a link.
type row struct {
	Name string
	Link link
}

// link is a URI on a page.
type link struct {
	Href template.HTMLAttr // the whole attribute: template.URL would encode octets such as "("
	Text string
}

// links returns links to locations, and for names links to this server. html/template alone
// would allow only http, https and mailto.
func links(uris []string) []link {
	var all []link
	for _, u := range uris {
		all = append(all, linkTo(u))
	}
	return all
}

func linkTo(u string) link {
	href := "/" + u
	if resolver.CheckLocation(u) == nil {
		href = u
	}
	return link{hrefOf(href), u}
}

// hrefOf returns the attribute of a link to what was checked, or is of this server.
func hrefOf(href string) template.HTMLAttr {
	return template.HTMLAttr(`href="` + template.HTMLEscapeString(href) + `"`) //nolint:gosec // checked, and escaped
}

// Problem returns the page of an error.
func Problem(p api.Problem) []byte {
	page := data{
		Title: heading(p), Problem: &p, Says: says(p), StatusText: p.Title, Typed: p.Typed, List: links(p.Suggestions),
		Detail: sentence(p.Detail), IsFetch: p.Fetched,
	}
	if page.Typed == "" {
		page.Typed = p.Input
	}
	if r := p.Record; r != nil {
		page.Since, _, _ = strings.Cut(r.Since, "T")
		page.Successors = links(r.Successors)
		page.Reason, page.Contact = sentence(r.Reason), contact(r.Contact)
	}
	if p.Retrieves != "" {
		page.Title, page.Opens = "Open this?", link{hrefOf(p.Opens), p.Retrieves}
	}
	if p.Offset != nil {
		page.Before, page.At, page.After = around(p.Input, *p.Offset)
	}
	return page.render()
}

// sentence returns a text with the stop that it may have already.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

// contact returns whom to ask, which is any text: a link where it is a location or the URI of a mail address.
func contact(text string) link {
	if resolver.CheckLocation(text) != nil {
		return link{Text: text}
	}
	return link{hrefOf(text), strings.TrimPrefix(text, "mailto:")}
}

// heading describes a status for users.
func heading(p api.Problem) string {
	if p.Forwarded {
		return headingOfForwarded(p)
	}
	switch p.Status {
	case http.StatusBadRequest:
		return "This name is not valid"
	case http.StatusNotFound:
		return "This " + subject(p) + " was not found"
	case http.StatusGone:
		return "This " + subject(p) + " is no longer in use"
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return "This name cannot be resolved now"
	default:
		return p.Title
	}
}

// address is what people call a name that is a URL of the web.
const address = "address"

// subject returns what people call a name.
func subject(p api.Problem) string {
	if strings.HasPrefix(p.Input, "https://") || strings.HasPrefix(p.Input, "http://") {
		return address
	}
	return "name"
}

// says explains a status to users; technical reasons are shown on demand.
func says(p api.Problem) string {
	if p.Forwarded {
		return saysOfForwarded(p)
	}
	switch p.Status {
	case http.StatusNotFound:
		if p.Record != nil && p.Record.Status == "reserved" {
			return "It is reserved, and leads nowhere yet."
		}
		if p.Record != nil {
			return "The site to which it belongs has no resource for it."
		}
		if subject(p) == address {
			return "Nothing is registered at this address. It may be misspelt, or the link that led here is wrong."
		}
		return "Nobody whom this server can ask knows it."
	case http.StatusGone:
		return "Its owner has withdrawn it."
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return "A server that must be asked does not answer. Try again later."
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return "The server is busy. Try again in a moment."
	case http.StatusNotImplemented:
		return "This server cannot look it up."
	default:
		return p.Detail + "."
	}
}

// Home returns the home page, with a form for a name.
func Home() []byte { return data{Title: "urnd"}.render() }

// Fetch returns the page with a form for a URL that is fetched.
func Fetch() []byte { return data{Title: "Fetch a URL", IsFetch: true}.render() }

// List returns a page of links.
func List(title string, uris []string) []byte {
	return data{Title: title, IsList: true, List: links(uris)}.render()
}

// Description returns a page with a table of properties.
func Description(title string, properties [][2]string) []byte {
	return data{Title: title, Rows: rowsOf(properties)}.render()
}

// rowsOf makes links of the values that are locations or names.
func rowsOf(properties [][2]string) []row {
	var rows []row
	for _, p := range properties {
		value := link{Text: p[1]}
		if isURN := len(p[1]) > 4 && strings.EqualFold(p[1][:4], "urn:"); isURN || resolver.CheckLocation(p[1]) == nil {
			value = linkTo(p[1])
		}
		rows = append(rows, row{p[0], value})
	}
	return rows
}

// Index returns a page of paths of this server, each with what is there. A path that does not
// begin with a slash is no link.
func Index(title string, paths [][2]string) []byte {
	var rows []row
	for _, p := range paths {
		at := link{Text: p[0]}
		if strings.HasPrefix(p[0], "/") {
			at.Href = hrefOf(p[0])
		}
		rows = append(rows, row{p[1], at})
	}
	return data{Title: title, Paths: rows}.render()
}

// Moved returns the note of a redirect, for clients that do not follow it (RFC 9110 section
// 15.4).
func Moved(location string) []byte { return AppendMoved(nil, location) }

// AppendMoved appends that note to dst.
func AppendMoved(dst []byte, location string) []byte {
	const before, between, after = `<!DOCTYPE html><title>Found</title><p>See <a href="`, `">`, "</a>.\n"
	if strings.ContainsAny(location, "\x00&<>\"'") {
		location = template.HTMLEscapeString(location)
	}
	dst = slices.Grow(dst, len(before)+len(between)+len(after)+2*len(location))
	dst = append(append(dst, before...), location...)
	dst = append(append(dst, between...), location...)
	return append(dst, after...)
}

func (d data) render() []byte { return execute("page.html", d) }

// execute returns the page that a template makes of its data.
func execute(file string, value any) []byte {
	var b bytes.Buffer
	if err := layout.ExecuteTemplate(&b, file, value); err != nil {
		return []byte("<!DOCTYPE html><title>urnd</title><p>This page failed.") // it cannot fail with these types
	}
	return b.Bytes()
}

// around returns the character at an offset of an input, and up to 60 octets before and after
// it, as valid UTF-8.
func around(input string, offset int) (before, at, after string) {
	const context = 60
	offset = min(max(offset, 0), len(input))
	_, size := utf8.DecodeRuneInString(input[offset:])
	end := offset + size
	before, at, after = input[max(0, offset-context):offset], input[offset:end], input[end:min(len(input), end+context)]
	if offset > context {
		before = "…" + before
	}
	if end+context < len(input) {
		after += "…"
	}
	return strings.ToValidUTF8(before, "\uFFFD"), strings.ToValidUTF8(at, "\uFFFD"), strings.ToValidUTF8(after, "\uFFFD")
}
