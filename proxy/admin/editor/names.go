package editor

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// PathNames is where names are looked for, which is where editors begin.
const PathNames = "/registry/names"

// namesLength is how many names a page has.
const namesLength = 50

// namesPage is what the page of names shows.
type namesPage struct {
	Asked       url.Values
	Names       []foundName
	First, Next string // the targets of the first and the next page, "" for none
	IsLate      bool   // the search has taken too long, and goes on with the next page
	IsMore      bool   // one of the fields that are rarely used is
	MayAdd      bool
	Prefixes    []string // all that whoever asks may see; nil is all
	New         string
	Faults      faults
}

// foundName is a name that was found.
type foundName struct {
	api.Name
	Page  string
	Title string
	First string // the URI of the first target
	More  int    // how many others there are
}

// serveNames lists names.
func (e *Editor) serveNames(p *Request) (message.Reply, error) {
	asked := p.URL.Query()
	q := make(url.Values)
	for _, name := range []string{"prefix", "title", "text", "status", "target", "tag", "metadata"} {
		if value := asked.Get(name); value != "" {
			q.Set(name, value)
		}
	}
	page := namesPage{Asked: asked, Prefixes: p.Actor.Prefixes, New: pathEdit, IsMore: asked.Get("target")+asked.Get("tag")+asked.Get("metadata") != ""}
	page.MayAdd = service.ToChange.Check(p.Actor, registry.KindName) == nil
	if len(p.Actor.Prefixes) > 0 && q.Get("prefix") == "" { // what whoever asks may see begins so
		q.Set("prefix", p.Actor.Prefixes[0])
		asked.Set("prefix", p.Actor.Prefixes[0])
	}
	if asked.Get("cursor") != "" {
		page.First = pageOf(PathNames, q)
	}
	var found service.Entries
	search, err := service.Filter(registry.KindName, q.Get)
	if err == nil {
		found, err = e.Service.List(p.Context(), p.Actor, search, service.Page{Limit: namesLength, Cursor: asked.Get("cursor")})
	}
	status := http.StatusOK
	if err != nil {
		if !isAsked(err) {
			return message.Reply{}, err
		}
		page.Faults, status = faults{faultOf(err, nil)}, problem.Status(err)
	}
	page.IsLate = found.Next != "" && len(found.Entries) < namesLength
	for _, e := range found.Entries {
		page.Names = append(page.Names, foundOf(api.NewName(e)))
	}
	if found.Next != "" {
		q.Set("cursor", found.Next)
		page.Next = pageOf(PathNames, q)
	}
	reply := e.show(p, "Names", "names.html", page)
	reply.Status = status
	return reply, nil
}

// pageOf returns the target of a page with parameters.
func pageOf(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// foundOf returns a row of a list.
func foundOf(n api.Name) foundName {
	f := foundName{Name: n, Page: subject{Name: n.Name}.to(pathName)}
	f.Title, _, _ = split(json.RawMessage(n.Metadata))
	f.Title = cut(f.Title)
	if len(n.Targets) > 0 {
		f.First, f.More = cut(n.Targets[0].URI), len(n.Targets)-1
	}
	return f
}

// Statuses are the choices of the status.
func (p namesPage) Statuses() []option {
	all := []option{{Value: "", Word: "any"}, {Value: "active", Word: "active"}, {Value: "reserved", Word: "reserved"}, {Value: "withdrawn", Word: "withdrawn"}}
	for i := range all {
		all[i].IsChosen = all[i].Value == p.Asked.Get("status")
	}
	return all
}
