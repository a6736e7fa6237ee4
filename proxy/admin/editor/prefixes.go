package editor

import (
	"net/url"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

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
