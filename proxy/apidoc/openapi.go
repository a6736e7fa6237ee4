// Package apidoc renders the documentation of an API as pages: an index, a page for each tag, and one with
// all schemas. An OpenAPI document enters; HTML content in the language of the reader leaves. It follows
// OpenAPI 3.1.
package apidoc

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/proxy/pages"
)

//go:embed *.html
var files embed.FS

// Docs are the pages of a document. They are immutable, and safe for concurrent use.
type Docs struct {
	Info   map[string]any
	Groups []group
	// Components has the components that operations refer to, as in the document.
	Components struct{ Schemas, SecuritySchemes map[string]any }

	contents pages.Contents
}

// group is a tag with its operations.
type group struct {
	Name, Description string
	Operations        []operation
}

// titleOf returns the title of a group in the language of a page, by default its capitalized name.
func titleOf(in pages.Writer, name string) string {
	if id := "apidoc.group_" + name; in.Has(id) {
		return in.Text(id)
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// operation is an operation of the document: OpenAPI 3.1 section 4.8.10.
type operation struct {
	Method, Path, Example  string // Example is the request target of a GET
	OperationID, Summary   string
	Description            string
	Tags                   []string
	Parameters             []parameter
	Security               []map[string]any
	RequestBody, Responses map[string]any
}

// parameter is a parameter of an operation: section 4.8.12.
type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                map[string]any
	Example               any // nil for none
}

// New parses a document. Each of its operations must have one of its tags.
func New(text []byte) (*Docs, error) {
	d := &Docs{contents: pages.NewContents(files)}
	var read struct {
		*Docs
		Tags     []group
		Security []map[string]any
		Paths    map[string]map[string]operation
	}
	read.Docs = d
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // otherwise a million is 1e+06
	if err := decoder.Decode(&read); err != nil {
		return nil, fmt.Errorf("reading an OpenAPI document: %w", err)
	}
	d.Groups = read.Tags
	for path, operations := range read.Paths {
		for method, o := range operations {
			i := slices.IndexFunc(d.Groups, func(g group) bool { return slices.Contains(o.Tags, g.Name) })
			if i < 0 {
				return nil, fmt.Errorf("reading an OpenAPI document: %s %s has no tag of it", method, path)
			}
			if o.Method, o.Path = strings.ToUpper(method), path; o.Security == nil {
				o.Security = read.Security
			}
			o.Example = o.example()
			d.Groups[i].Operations = append(d.Groups[i].Operations, o)
		}
	}
	for _, g := range d.Groups {
		slices.SortFunc(g.Operations,
			func(a, b operation) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	}
	return d, nil
}

// example returns the path and query of a request with the examples of the document.
func (o *operation) example() string {
	path, query := o.Path, url.Values{}
	for _, p := range o.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(p.Example))
		case p.In == "query" && p.Example != nil:
			query.Set(p.Name, fmt.Sprint(p.Example))
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// Location is the location of the pages: Root is the path of the index, and Document that of the OpenAPI
// document, as browsers request them; Base is the URL of the server without a trailing slash, "" if unknown.
// In selects the language; links to other pages preserve a language that the reader has selected.
type Location struct {
	Root, Document, Base string
	Writer               pages.Writer
}

// Title returns the title of a group.
func (p Location) Title(name string) string { return titleOf(p.Writer, name) }

// schemas is the slug of the page with all schemas.
const schemas = "schemas"

// Page returns the title and the content of a page by its slug, the last segment of its path; "" is the
// index. ok is false for an unknown slug. Texts of the document are in English, and marked so.
func (d *Docs) Page(slug string, at Location) (title string, content pages.Content, ok bool) {
	if at.Base == "" {
		at.Base = "https://HOST"
	}
	view := struct {
		*Docs
		Location
		Group group
	}{Docs: d, Location: at}
	file := "index.html"
	if i := slices.IndexFunc(d.Groups, func(g group) bool { return g.Name == slug }); i >= 0 {
		view.Group, file = d.Groups[i], "group.html"
	} else if slug == schemas {
		file = "schemas.html"
	} else if slug != "" {
		return "", "", false
	}
	switch slug {
	case "":
	case schemas:
		title = at.Writer.Text("apidoc.schemas")
	default:
		title = titleOf(at.Writer, slug)
	}
	const mark = "?x-lang" // templates of types have access to the type only
	content = d.contents.Make(at.Writer.Language(), file, view)
	return title, pages.Content(strings.ReplaceAll(string(content), mark, string(pages.Escaped(at.Writer.Chosen())))),
		true
}
