// Package pages renders the HTML pages.
package pages

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
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

//go:embed page.html
var pageText string

// layout escapes by context: no input can become markup.
var layout = template.Must(template.New("page").Parse(pageText))

// data is the content of a page: a problem, a list or a description; the zero value is the
// home page.
type data struct {
	Title   string
	Problem *api.Problem
	IsList  bool // List, which may be empty, is shown
	List    []link
	Rows    [][2]string // properties of a description
	// The input around the offending octet.
	Before, At, After string
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
		href := "/" + u
		if resolver.CheckLocation(u) == nil {
			href = u
		}
		all = append(all, link{template.HTMLAttr(`href="` + template.HTMLEscapeString(href) + `"`), u}) //nolint:gosec // just checked, or of this server, and escaped
	}
	return all
}

// Problem returns the page of an error.
func Problem(p api.Problem) []byte {
	page := data{Title: heading(p), Problem: &p}
	if p.Offset != nil {
		page.Before, page.At, page.After = around(p.Input, *p.Offset)
	}
	return page.render()
}

// heading describes a status for users.
func heading(p api.Problem) string {
	switch p.Status {
	case http.StatusBadRequest:
		return "This name is not valid"
	case http.StatusNotFound:
		return "This name was not found"
	case http.StatusGone:
		return "This name is no longer in use"
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return "This name cannot be resolved now"
	default:
		return p.Title
	}
}

// Home returns the home page, with a form for a name.
func Home() []byte { return data{Title: "urnd"}.render() }

// List returns a page of links.
func List(title string, uris []string) []byte {
	return data{Title: title, IsList: true, List: links(uris)}.render()
}

// Description returns a page with a table of properties.
func Description(title string, rows [][2]string) []byte {
	return data{Title: title, Rows: rows}.render()
}

func (d data) render() []byte {
	var b bytes.Buffer
	if err := layout.Execute(&b, d); err != nil {
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
