// Package pages makes every HTML page, in one design.
package pages

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver"
)

// Type is the media type of pages, and ContentType the field of their replies.
const (
	Type        = "text/html"
	ContentType = "text/html; charset=utf-8"
)

//go:embed page.html
var pageText string

// layout escapes by context, so that no input can become markup.
var layout = template.Must(template.New("page").Parse(pageText))

// data is what a page shows: the home page, a problem, a list or a description.
type data struct {
	Title   string
	Problem *api.Problem
	IsList  bool // of what follows, which may be empty
	List    []link
	Rows    [][2]string // properties of a description
	// The input around the offending octet.
	Before, At, After string
}

// link is a URI on a page.
type link struct {
	Href template.URL
	Text string
}

// links makes URIs links: locations as they are, and names by way of this server. The
// package of templates alone would allow the schemes of the web.
func links(uris []string) []link {
	var all []link
	for _, u := range uris {
		href := "/" + u
		if resolver.CheckLocation(u) == nil {
			href = u
		}
		all = append(all, link{template.URL(href), u}) //nolint:gosec // just checked, or of this server
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

// heading says in the words of a reader what the status says in those of HTTP.
func heading(p api.Problem) string {
	switch p.Status {
	case http.StatusBadRequest:
		return "This name is not well formed"
	case http.StatusNotFound:
		return "Nobody knows this name"
	case http.StatusGone:
		return "This name was in use, and is no longer"
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return "Those who may know this name cannot be asked now"
	default:
		return p.Title
	}
}

// Home returns the page where a name can be typed in.
func Home() []byte { return data{Title: "urnd"}.render() }

// List returns a page of links to URIs about another.
func List(title string, uris []string) []byte {
	return data{Title: title, IsList: true, List: links(uris)}.render()
}

// Description returns a page of properties, one a row.
func Description(title string, rows [][2]string) []byte {
	return data{Title: title, Rows: rows}.render()
}

func (d data) render() []byte {
	var b bytes.Buffer
	if err := layout.Execute(&b, d); err != nil {
		return []byte("<!DOCTYPE html><title>urnd</title><p>This page failed.") // no data of ours can do that
	}
	return b.Bytes()
}

// around returns an octet of an input of any length, and the text before and after it.
func around(input string, offset int) (before, at, after string) {
	const context = 60
	offset = min(max(offset, 0), len(input))
	end := min(offset+1, len(input))
	before, at, after = input[max(0, offset-context):offset], input[offset:end], input[end:min(len(input), end+context)]
	if offset > context {
		before = "…" + before
	}
	if end+context < len(input) {
		after += "…"
	}
	return before, at, after
}
