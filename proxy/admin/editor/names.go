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

// PathNames is the path of the search for names, the entry page of editors.
const PathNames = "/registry/names"

// namesLength is the page size of names.
const namesLength = 50

// namesPage is the data of the page of names.
type namesPage struct {
	Field       pages.Content
	Values      url.Values
	Query       url.Values // the parameters of the search
	Names       []foundName
	First, Next string // URLs of the first and the next page, "" for none
	TimedOut    bool   // the search was interrupted by its time limit, and continues on the next page
	IsMore      bool   // a rarely used field is set
	MayAdd      bool
	MaySelect   bool
	Prefixes    []string // the prefixes that the actor may read; nil is all
	New, Mint   string
	Select      string // URL to which the selected names are posted
	CSV, NDJSON string // URLs of the complete result as a file
	Error       pages.Content
}

// foundName is a row of the search result.
type foundName struct {
	api.Name
	Page  string
	Title string
	First string // URI of the first target
	More  int    // number of further targets
}

// sortChanged is the value of the parameter "sort" that orders by the last change, the newest first; ""
// orders by name.
const sortChanged = "changed"

// filters returns the search parameters in a query, for searchOf.
func filters(requested url.Values) url.Values {
	q := make(url.Values)
	for _, name := range []string{"prefix", "title", "text", "status", "target", "tag", "metadata", "sort"} {
		if value := requested.Get(name); value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// searchOf returns the search of a query.
func searchOf(q url.Values) (registry.Search, error) {
	search, err := service.ParseSearch(registry.KindName, q.Get)
	search.NewestFirst = q.Get("sort") == sortChanged
	return search, err
}

// serveNames lists names.
func (e *Editor) serveNames(p *Request) (message.Reply, error) {
	requested := p.URL.Query()
	q := filters(requested)
	page := namesPage{
		Field: p.Field.HTML(), Values: requested, Prefixes: p.Actor.Prefixes, New: pathEdit, Select: pathSelection,
		IsMore: requested.Get("target")+requested.Get("tag")+requested.Get("metadata") != "",
	}
	page.MayAdd = service.ToChange.Check(p.Actor, registry.KindName) == nil
	page.MaySelect = page.MayAdd && e.Service.HasJobs()
	if len(p.Actor.Prefixes) > 0 && q.Get("prefix") == "" { // only this prefix is readable for the actor
		q.Set("prefix", p.Actor.Prefixes[0])
		requested.Set("prefix", p.Actor.Prefixes[0])
	}
	if service.ToMint.Check(p.Actor, registry.KindName) == nil {
		page.Mint = pageOf(pathMint, url.Values{"prefix": {q.Get("prefix")}})
	}
	page.Query = maps.Clone(q)
	if requested.Get("cursor") != "" {
		page.First = pageOf(PathNames, q)
	}
	var found service.EntryPage
	search, err := searchOf(q)
	if err == nil {
		found, err = e.Service.List(p.Context(), p.Actor, search,
			service.Page{Limit: namesLength, Cursor: requested.Get("cursor")})
	}
	if err != nil && !isQueryError(err) {
		return message.Reply{}, err
	}
	page.Error = errorContent(p.Panel.Writer, err)
	page.TimedOut = found.Next != "" && len(found.Entries) < namesLength
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
	return withErrorStatus(e.show(p, p.Panel.Writer.Text("found.title"), "names.html", page), err), nil
}

// pageOf returns the URL of a page with parameters.
func pageOf(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// exportOf returns the URL that exports the result of a search.
func exportOf(q url.Values, format string) string {
	q.Set("format", format)
	return pageOf("/api/v1/names/export", q)
}

// foundOf returns a row of the search result.
func foundOf(n api.Name) foundName {
	f := foundName{Name: n, Page: subject{Name: n.Name}.to(pathName), Title: cut(titleOf(n.Metadata))}
	if len(n.Targets) > 0 {
		f.First, f.More = cut(n.Targets[0].URI), len(n.Targets)-1
	}
	return f
}

// titleOf returns the title in metadata, "" for none.
func titleOf(metadata string) (text string) {
	members, _ := field.ParseMembers(json.RawMessage(metadata)) // the registry has validated it
	for _, name := range title.Members() {
		i := slices.IndexFunc(members, func(m field.Member) bool { return strings.EqualFold(m.Name, name) })
		if i >= 0 && json.Unmarshal(members[i].Value, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// Statuses returns the options of the status.
func (p namesPage) Statuses() []choice {
	return choices(p.Values.Get("status"), "", "names.status_any", "active", "names.status_active", "reserved",
		"names.status_reserved", "withdrawn", "names.status_withdrawn")
}

// Sorts returns the options of the order.
func (p namesPage) Sorts() []choice {
	return choices(p.Values.Get("sort"), "", "found.by_name", sortChanged, "found.by_change")
}

// choice is an option of a select element, with the identifier of its message.
type choice struct {
	Value, Message string
	IsChosen       bool
}

// choices returns options from pairs of a value and a message; chosen is selected.
func choices(chosen string, pairs ...string) (all []choice) {
	for i := 1; i < len(pairs); i += 2 {
		all = append(all, choice{pairs[i-1], pairs[i], pairs[i-1] == chosen})
	}
	return all
}

// PathPrefixes is the path of the list of prefixes.
const PathPrefixes = "/registry/prefixes"

// prefixesPage is the data of the page of prefixes.
type prefixesPage struct {
	Query    url.Values
	Prefixes []api.Name
	Next     string
	MayEdit  bool
	MayMint  bool
	Own      []string
}

// servePrefixes lists the prefixes.
func (e *Editor) servePrefixes(p *Request) (message.Reply, error) {
	q, requested := queryOf(p, "text", "status", "cursor")
	search, err := service.ParseSearch(registry.KindPrefix, q.Get)
	if err != nil {
		return message.Reply{}, err
	}
	found, err := e.Service.List(p.Context(), p.Actor, search, service.Page{Cursor: q.Get("cursor")})
	if err != nil {
		return message.Reply{}, err
	}
	page := prefixesPage{
		Query: requested, Prefixes: api.NewNames(found.Entries), Own: p.Actor.Prefixes,
		MayMint: service.ToMint.Check(p.Actor, registry.KindName) == nil,
		MayEdit: service.ToChange.Check(p.Actor, registry.KindPrefix) == nil,
	}
	if found.Next != "" {
		q.Set("cursor", found.Next)
		page.Next = PathPrefixes + "?" + q.Encode()
	}
	return e.show(p, p.Panel.Writer.Text("prefixes.title"), "prefixes.html", page), nil
}

// queryOf returns the parameter "prefix", and those named others, of a request. The prefix defaults to the
// first owned prefix of the actor. q has the parameters that are set, asked all of them.
func queryOf(p *Request, others ...string) (q, requested url.Values) {
	requested, q = p.URL.Query(), make(url.Values)
	if requested.Get("prefix") == "" && len(p.Actor.Prefixes) > 0 {
		requested.Set("prefix", p.Actor.Prefixes[0])
	}
	for _, name := range append(others, "prefix") {
		if value := requested.Get(name); value != "" {
			q.Set(name, value)
		}
	}
	return q, requested
}

// pathMint is the path of the form that mints the next free name of a pattern.
const pathMint = "/registry/mint"

// mintPage is the data of the page of the next free name.
type mintPage struct {
	Field    pages.Content
	Prefix   string
	Patterns []nextName
	Pattern  string // the typed or the suggested pattern
	Error    pages.Content
}

// nextName is the next free name of a pattern in use, "" if there is none.
type nextName struct{ Pattern, Name string }

// shownPatterns limits the patterns whose next name is searched.
const shownPatterns = 20

// serveMint shows the next free names of patterns, and mints one; its edit form follows.
func (e *Editor) serveMint(p *Request) (message.Reply, error) {
	if p.Method != http.MethodPost {
		return e.showMint(p, nil)
	}
	pattern := p.Form.Get("pattern")
	if pattern == "" {
		pattern = strings.TrimSpace(p.Form.Get("other"))
	}
	names, err := e.Service.Mint(p.Context(), p.Actor, mint.Request{Pattern: pattern, Count: 1})
	switch {
	case err == nil:
		return seeOther(subject{Name: names[0]}.to(pathEdit)), nil
	case e.isFormError(p, err):
		return e.showMint(p, err)
	default:
		return message.Reply{}, err
	}
}

// redisplayMint shows the form as it was submitted.
func (e *Editor) redisplayMint(p *Request) (message.Reply, error) { return e.showMint(p, nil) }

// showMint shows the patterns in use below a prefix, with their next names.
func (e *Editor) showMint(p *Request, failure error) (message.Reply, error) {
	page := mintPage{
		Field: p.Field.HTML(), Prefix: ownPrefix(p, p.URL.Query().Get("prefix")),
		Pattern: p.Form.Get("other"),
	}
	patterns, err := e.Service.MintPatterns(p.Context(), p.Actor, page.Prefix)
	if err != nil {
		return message.Reply{}, err
	}
	for _, pattern := range patterns[:min(len(patterns), shownPatterns)] {
		next := nextName{Pattern: pattern}
		changes, err := e.Service.PreviewMint(p.Context(), p.Actor, mint.Request{Pattern: pattern, Count: 1})
		if err == nil && len(changes) > 0 { // otherwise all names of the pattern are in use
			next.Name = changes[0].After.Name
		}
		page.Patterns = append(page.Patterns, next)
	}
	if page.Pattern == "" && page.Prefix != "" {
		page.Pattern = page.Prefix + "{counter}"
	}
	page.Error = errorContent(p.Panel.Writer, failure)
	p.Panel.Crumbs = []pages.Item{{Label: p.Panel.Writer.Text("found.title"), Path: PathNames}}
	return withErrorStatus(e.show(p, p.Panel.Writer.Text("mint.title"), "mint.html", page), failure), nil
}
