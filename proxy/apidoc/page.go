package apidoc

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/proxy/pages"
)

//go:embed *.html
var files embed.FS

// Pages are those of a document. They are immutable, and safe for concurrent use.
type Pages struct {
	Title string
	Index pages.Content
	list  []Page
}

// Page is the page of a group of operations.
type Page struct {
	Slug, Title string // Slug is the last segment of its path
	Content     pages.Content
}

// Of returns the page with a slug.
func (p *Pages) Of(slug string) (*Page, bool) {
	for i := range p.list {
		if p.list[i].Slug == slug {
			return &p.list[i], true
		}
	}
	return nil, false
}

// Slugs returns those of all pages.
func (p *Pages) Slugs() []string {
	slugs := make([]string, len(p.list))
	for i := range p.list {
		slugs[i] = p.list[i].Slug
	}
	return slugs
}

// Options say of what pages are made, and where they are.
type Options struct {
	// Root is the path of the index, below which the pages are, and Document that of the OpenAPI document, as browsers ask for them.
	Root, Document string
	// Most is how many octets the content of a page may have: a group that has more has several.
	Most int
}

// New returns the pages of an OpenAPI document.
func New(text []byte, options Options) (*Pages, error) {
	d := new(document)
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("reading an OpenAPI document: %w", err)
	}
	m := maker{document: d, options: options, contents: pages.NewContents(files)}
	all := &Pages{Title: d.Info.Title}
	groups := m.groups()
	for i := range groups {
		all.list = append(all.list, m.pagesOf(&groups[i])...)
	}
	all.Index = m.contents.Make(pages.English, "index.html", indexOf{Document: d, Options: options, Groups: groups})
	return all, nil
}

// maker makes the pages of a document.
type maker struct {
	document *document
	options  Options
	contents pages.Contents
}

// indexOf is what the index shows.
type indexOf struct {
	Document *document
	Options  Options
	Groups   []group
}

// Access returns who may ask for operations that say nothing else.
func (i indexOf) Access() []string {
	var all []string
	for _, m := range i.Document.Components.SecuritySchemes {
		all = append(all, cmp.Or(m.value.Description, "a "+m.value.Scheme+" token of administrators")+": Authorization: "+titled(m.value.Scheme)+" TOKEN")
	}
	return all
}

// group is a group of operations.
type group struct {
	Slug, Title, Says string
	Operations        []shown
}

// shown is an operation as pages show it.
type shown struct {
	ID, Method, Path, Summary, Description string
	Access                                 string
	Parameters                             []property
	Bodies                                 []content
	BodySays                               string
	Responses                              []response
	Curl                                   string
	Page                                   string // the slug of the page that has it
	uses                                   []string
}

// content is a media type with what is of it.
type content struct {
	MediaType string
	Type      pages.Content
}

// response is one for several statuses, which differ in nothing else.
type response struct {
	Statuses, Says, Headers string
	Contents                []content
}

// others is the slug of operations without a tag.
const others = "other"

// groups returns the operations by their first tag, in the order of the document.
func (m *maker) groups() []group {
	var all []group
	index := make(map[string]int)
	for _, t := range append(slices.Clone(m.document.Tags), tag{Name: others, Description: "All else."}) {
		index[t.Name] = len(all)
		all = append(all, group{Slug: t.Name, Title: titled(t.Name), Says: t.Description})
	}
	for _, path := range m.document.Paths {
		for i := range path.value {
			o := &path.value[i].value
			at := index[others]
			if len(o.Tags) > 0 {
				if tagged, ok := index[o.Tags[0]]; ok {
					at = tagged
				}
			}
			all[at].Operations = append(all[at].Operations, m.shown(path.name, path.value[i].name, o))
		}
	}
	return slices.DeleteFunc(all, func(g group) bool { return len(g.Operations) == 0 })
}

func titled(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// shown returns an operation as pages show it.
func (m *maker) shown(path, method string, o *operation) shown {
	s := shown{ID: o.OperationID, Method: strings.ToUpper(method), Path: path, Summary: o.Summary, Description: o.Description}
	use := func(name string) {
		if !slices.Contains(s.uses, name) {
			s.uses = append(s.uses, name)
		}
	}
	security := m.document.Security
	if o.Security != nil {
		security = *o.Security
	}
	isOpen := len(security) == 0
	s.Access = accessOf(security)
	for i := range o.Parameters {
		p := &o.Parameters[i]
		references(&p.Schema, use)
		s.Parameters = append(s.Parameters, property{Name: p.Name, Says: p.Description, Type: pages.Escaped(p.In+", ") + typeOf(&p.Schema), IsRequired: p.Required})
	}
	if b := o.RequestBody; b != nil {
		s.Bodies, s.BodySays = contentsOf(b, use), b.Description
	}
	for i := range o.Responses {
		s.add(&o.Responses[i], use)
	}
	s.Curl = curl(method, path, o, isOpen)
	return s
}

// accessOf says who may ask for an operation.
func accessOf(security []map[string][]string) string {
	var all []string
	for _, one := range security {
		for name := range one {
			all = append(all, map[string]string{"token": "the token of administrators", "registryToken": "a token of the registry"}[name])
		}
	}
	return strings.Join(all, ", or ")
}

func contentsOf(b *body, use func(string)) []content {
	var all []content
	for i := range b.Content {
		c := &b.Content[i]
		references(&c.value.Schema, use)
		shown := typeOf(&c.value.Schema)
		if shown == "string" || shown == "anything" { // which the media type says
			shown = ""
		}
		all = append(all, content{c.name, shown})
	}
	return all
}

// add adds a response, to the one before where it differs in its status alone.
func (s *shown) add(m *member[body], use func(string)) {
	r := response{Statuses: m.name, Says: m.value.Description, Contents: contentsOf(&m.value, use)}
	var headers []string
	for _, h := range m.value.Headers {
		headers = append(headers, h.name)
	}
	r.Headers = strings.Join(headers, ", ")
	for i := range s.Responses {
		before := &s.Responses[i]
		if before.Says == r.Says && before.Headers == r.Headers && slices.Equal(before.Contents, r.Contents) {
			before.Statuses += ", " + r.Statuses
			return
		}
	}
	s.Responses = append(s.Responses, r)
}

// pagesOf returns the pages of a group: one, if it is not too long.
func (m *maker) pagesOf(g *group) []Page {
	var all []Page
	for first := 0; first < len(g.Operations); {
		slug, title := g.Slug, g.Title
		if n := len(all) + 1; n > 1 {
			slug, title = slug+"-"+strconv.Itoa(n), title+" ("+strconv.Itoa(n)+")"
		}
		last := len(g.Operations)
		text := m.page(g, first, last)
		for len(text) > m.options.Most && last > first+1 {
			last--
			text = m.page(g, first, last)
		}
		for i := first; i < last; i++ {
			g.Operations[i].Page = slug
		}
		all = append(all, Page{Slug: slug, Title: title, Content: text})
		first = last
	}
	return all
}

// page returns the page of some operations, with the schemas that they refer to.
func (m *maker) page(g *group, first, last int) pages.Content {
	operations := g.Operations[first:last]
	var names []string
	var use func(name string)
	use = func(name string) {
		if slices.Contains(names, name) {
			return
		}
		names = append(names, name)
		if s, ok := m.document.Components.Schemas.of(name); ok {
			references(&s, use)
		}
	}
	for i := range operations {
		for _, name := range operations[i].uses {
			use(name)
		}
	}
	var schemas []property
	for i := range m.document.Components.Schemas {
		s := &m.document.Components.Schemas[i]
		if slices.Contains(names, s.name) {
			schemas = append(schemas, property{Name: s.name, Says: s.value.Description, Type: typeOf(&s.value), Within: propertiesOf(&s.value, deepest)})
		}
	}
	return m.contents.Make(pages.English, "group.html", struct {
		Says       string
		Operations []shown
		Schemas    []property
	}{g.Says, operations, schemas})
}
