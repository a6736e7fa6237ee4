package editor

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/mint"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/resolver/registry/title"
)

// PathNames is where names are looked for, which is where editors begin.
const PathNames = "/registry/names"

// namesLength is how many names a page has.
const namesLength = 50

// namesPage is what the page of names shows.
type namesPage struct {
	Field       pages.Content
	Asked       url.Values
	Query       url.Values // of Asked what is a search
	Names       []foundName
	First, Next string // the targets of the first and the next page, "" for none
	IsLate      bool   // the search has taken too long, and goes on with the next page
	IsMore      bool   // one of the fields that are rarely used is
	MayAdd      bool
	MaySelect   bool
	Prefixes    []string // all that whoever asks may see; nil is all
	New, Mint   string
	Select      string // where the names that are selected are sent
	CSV, NDJSON string // all that is found
	Fault       pages.Content
}

// foundName is a name that was found.
type foundName struct {
	api.Name
	Page  string
	Title string
	First string // the URI of the first target
	More  int    // how many others there are
}

// sortChanged is the value of the parameter "sort" by which what was changed last is first; "" is by name.
const sortChanged = "changed"

// filters returns what of a query is a search for names, as searchOf reads it.
func filters(asked url.Values) url.Values {
	q := make(url.Values)
	for _, name := range []string{"prefix", "title", "text", "status", "target", "tag", "metadata", "sort"} {
		if value := asked.Get(name); value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// searchOf returns the search of a query.
func searchOf(q url.Values) (registry.Search, error) {
	search, err := service.Filter(registry.KindName, q.Get)
	search.Newest = q.Get("sort") == sortChanged
	return search, err
}

// serveNames lists names.
func (e *Editor) serveNames(p *Request) (message.Reply, error) {
	asked := p.URL.Query()
	q := filters(asked)
	page := namesPage{
		Field: p.Field.HTML(), Asked: asked, Prefixes: p.Actor.Prefixes, New: pathEdit, Select: pathSelection,
		IsMore: asked.Get("target")+asked.Get("tag")+asked.Get("metadata") != "",
	}
	page.MayAdd = service.ToChange.Check(p.Actor, registry.KindName) == nil
	page.MaySelect = page.MayAdd && e.Service.HasJobs()
	if len(p.Actor.Prefixes) > 0 && q.Get("prefix") == "" { // what whoever asks may see begins so
		q.Set("prefix", p.Actor.Prefixes[0])
		asked.Set("prefix", p.Actor.Prefixes[0])
	}
	if service.ToMint.Check(p.Actor, registry.KindName) == nil {
		page.Mint = pageOf(pathMint, url.Values{"prefix": {q.Get("prefix")}})
	}
	page.Query = maps.Clone(q)
	if asked.Get("cursor") != "" {
		page.First = pageOf(PathNames, q)
	}
	var found service.Entries
	search, err := searchOf(q)
	if err == nil {
		found, err = e.Service.List(p.Context(), p.Actor, search, service.Page{Limit: namesLength, Cursor: asked.Get("cursor")})
	}
	if err != nil && !isAsked(err) {
		return message.Reply{}, err
	}
	page.Fault = saidOf(p.Panel.In, err)
	page.IsLate = found.Next != "" && len(found.Entries) < namesLength
	for _, e := range found.Entries {
		page.Names = append(page.Names, foundOf(api.NewName(e)))
	}
	exported := maps.Clone(q)
	exported.Del("sort")
	page.CSV, page.NDJSON = exportOf(exported, "csv"), exportOf(exported, "ndjson")
	if found.Next != "" {
		q.Set("cursor", found.Next)
		page.Next = pageOf(PathNames, q)
	}
	return refusedBy(e.show(p, p.Panel.In.Text("found.title"), "names.html", page), err), nil
}

// pageOf returns the target of a page with parameters.
func pageOf(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// exportOf returns the target of what a search finds, as a file.
func exportOf(q url.Values, format string) string {
	q.Set("format", format)
	return pageOf("/api/v1/names/export", q)
}

// foundOf returns a row of a list.
func foundOf(n api.Name) foundName {
	f := foundName{Name: n, Page: subject{Name: n.Name}.to(pathName), Title: cut(titleOf(n.Metadata))}
	if len(n.Targets) > 0 {
		f.First, f.More = cut(n.Targets[0].URI), len(n.Targets)-1
	}
	return f
}

// titleOf returns the title in metadata, "" for none.
func titleOf(metadata string) (text string) {
	members, _ := field.ParseMembers(json.RawMessage(metadata)) // the registry has checked it
	for _, name := range title.Members() {
		i := slices.IndexFunc(members, func(m field.Member) bool { return strings.EqualFold(m.Name, name) })
		if i >= 0 && json.Unmarshal(members[i].Value, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// Statuses are the choices of the status, and Sorts those of the order.
func (p namesPage) Statuses() []choice {
	return choices(p.Asked.Get("status"), "", "names.status_any", "active", "names.status_active", "reserved", "names.status_reserved", "withdrawn", "names.status_withdrawn")
}

// Sorts are the choices of the order.
func (p namesPage) Sorts() []choice {
	return choices(p.Asked.Get("sort"), "", "found.by_name", sortChanged, "found.by_change")
}

// choice is one of a list, with the identifier of its message.
type choice struct {
	Value, Message string
	IsChosen       bool
}

// choices returns a list of values and messages, of which one is chosen.
func choices(chosen string, pairs ...string) (all []choice) {
	for i := 1; i < len(pairs); i += 2 {
		all = append(all, choice{pairs[i-1], pairs[i], pairs[i-1] == chosen})
	}
	return all
}

// PathPrefixes is where the prefixes are.
const PathPrefixes = "/registry/prefixes"

// prefixesPage is what the page of prefixes shows.
type prefixesPage struct {
	Asked    url.Values
	Prefixes []api.Name
	Next     string
	MayEdit  bool
	MayMint  bool
	Own      []string
}

// servePrefixes lists the prefixes.
func (e *Editor) servePrefixes(p *Request) (message.Reply, error) {
	q, asked := askedOf(p, "text", "status", "cursor")
	search, err := service.Filter(registry.KindPrefix, q.Get)
	if err != nil {
		return message.Reply{}, err
	}
	found, err := e.Service.List(p.Context(), p.Actor, search, service.Page{Cursor: q.Get("cursor")})
	if err != nil {
		return message.Reply{}, err
	}
	page := prefixesPage{
		Asked: asked, Prefixes: api.NewNames(found.Entries), Own: p.Actor.Prefixes,
		MayMint: service.ToMint.Check(p.Actor, registry.KindName) == nil,
		MayEdit: service.ToChange.Check(p.Actor, registry.KindPrefix) == nil,
	}
	if found.Next != "" {
		q.Set("cursor", found.Next)
		page.Next = PathPrefixes + "?" + q.Encode()
	}
	return e.show(p, p.Panel.In.Text("prefixes.title"), "prefixes.html", page), nil
}

// askedOf returns what a page is asked for: "prefix", without which who has only some names is asked for the first of these, and others.
func askedOf(p *Request, others ...string) (q, asked url.Values) {
	asked, q = p.URL.Query(), make(url.Values)
	if asked.Get("prefix") == "" && len(p.Actor.Prefixes) > 0 {
		asked.Set("prefix", p.Actor.Prefixes[0])
	}
	for _, name := range append(others, "prefix") {
		if value := asked.Get(name); value != "" {
			q.Set(name, value)
		}
	}
	return q, asked
}

// pathMint is where the next free name of a pattern is reserved.
const pathMint = "/registry/mint"

// mintPage is what the page of the next free name shows.
type mintPage struct {
	Field    pages.Content
	Prefix   string
	Patterns []nextName
	Pattern  string // that was typed, or is offered
	Fault    pages.Content
}

// nextName is the next free name of a pattern that is in use, "" where there is none.
type nextName struct{ Pattern, Name string }

// shownPatterns bounds the patterns of which the next name is looked for.
const shownPatterns = 20

// serveMint shows the next free names of patterns, and reserves one: then its form is filled in.
func (e *Editor) serveMint(p *Request) (message.Reply, error) {
	if p.Method != http.MethodPost {
		return e.showMint(p, nil)
	}
	pattern := p.Form.Get("pattern")
	if pattern == "" {
		pattern = strings.TrimSpace(p.Form.Get("other"))
	}
	names, err := e.Service.Mint(p.Context(), p.Actor, mint.Request{Pattern: pattern, N: 1})
	switch {
	case err == nil:
		return seeOther(subject{Name: names[0]}.to(pathEdit)), nil
	case e.refuses(p, err):
		return e.showMint(p, err)
	default:
		return message.Reply{}, err
	}
}

// mintAgain shows the form as it was sent.
func (e *Editor) mintAgain(p *Request) (message.Reply, error) { return e.showMint(p, nil) }

// showMint shows the patterns that are in use below a prefix, with their next names.
func (e *Editor) showMint(p *Request, fault error) (message.Reply, error) {
	page := mintPage{Field: p.Field.HTML(), Prefix: ownPrefix(p, p.URL.Query().Get("prefix")), Pattern: p.Form.Get("other")}
	patterns, err := e.Service.MintPatterns(p.Context(), p.Actor, page.Prefix)
	if err != nil {
		return message.Reply{}, err
	}
	for _, pattern := range patterns[:min(len(patterns), shownPatterns)] {
		next := nextName{Pattern: pattern}
		changes, err := e.Service.PreviewMint(p.Context(), p.Actor, mint.Request{Pattern: pattern, N: 1})
		if err == nil && len(changes) > 0 { // or all are taken
			next.Name = changes[0].After.Name
		}
		page.Patterns = append(page.Patterns, next)
	}
	if page.Pattern == "" && page.Prefix != "" {
		page.Pattern = page.Prefix + "{counter}"
	}
	page.Fault = saidOf(p.Panel.In, fault)
	p.Panel.Above = []pages.Item{{Word: p.Panel.In.Text("found.title"), Path: PathNames}}
	return refusedBy(e.show(p, p.Panel.In.Text("mint.title"), "mint.html", page), fault), nil
}
