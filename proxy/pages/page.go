package proxy

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"

	"github.com/urnd/urnd/resolver"
)

//go:embed page.html
var pageText string

// page escapes by context, so that no input can become markup.
var page = template.Must(template.New("page").Parse(pageText))

// pageData is what a page shows: the home page, or a problem.
type pageData struct {
	Title   string
	Problem *problem
	IsList  bool        // of what follows, which may be empty
	List    []link      // of URIs
	Rows    [][2]string // of a description
	// The input around the offending octet.
	Before, At, After string
}

// link is a URI on a page.
type link struct {
	Href template.URL
	Text string
}

// links makes URIs links: what clients may be sent to is one, and a name leads to
// where this server sends it. The package of templates would take only the web.
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

func errorPage(p problem) []byte {
	data := pageData{Title: heading(p), Problem: &p}
	if p.Offset != nil {
		data.Before, data.At, data.After = around(p.Input, *p.Offset)
	}
	return render(data)
}

// heading says in the words of a reader what the status says in those of HTTP.
func heading(p problem) string {
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

func homePage() []byte { return render(pageData{Title: "urnd"}) }

func render(data pageData) []byte {
	var b bytes.Buffer
	if err := page.Execute(&b, data); err != nil {
		return []byte("<!DOCTYPE html><title>urnd</title><p>This page failed.") // no data of ours can do that
	}
	return b.Bytes()
}

// around cuts the neighbourhood of an octet out of an input of any length.
func around(input string, offset int) (before, at, after string) {
	const reach = 60
	offset = min(max(offset, 0), len(input))
	end := min(offset+1, len(input))
	before, at, after = input[max(0, offset-reach):offset], input[offset:end], input[end:min(len(input), end+reach)]
	if offset > reach {
		before = "…" + before
	}
	if end+reach < len(input) {
		after += "…"
	}
	return before, at, after
}
