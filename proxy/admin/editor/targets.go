package editor

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/uri"
)

// PathTargets is where the targets are that do not answer.
const PathTargets = "/registry/targets"

const (
	// targetsShown is from how many targets on a page ends. healthPages bounds how many of the service are read for one.
	targetsShown = 50
	healthPages  = 20
)

// stateMoved is the state of the page, and not of the registry, of healthy targets that have moved for good.
const stateMoved = "moved"

// healthState is a state that one can ask for.
type healthState struct {
	State, About string
	Chosen       bool
}

// brokenTarget is a target with what can be done about it.
type brokenTarget struct {
	health.Target
	Answer string // what its server said
	Server string // "https://old.example.org/": what its targets begin with; "" where nothing is moved
	Move   string // the path where all targets of that server are moved, "" where that is not offered
	Edit   string
}

// targetsPage is what the page of targets shows.
type targetsPage struct {
	Asked   url.Values
	Own     []string
	States  []healthState
	Targets []brokenTarget
	Next    string
	MayEdit bool
	// IsChecked is whether targets are looked at at all.
	IsChecked bool
}

// serveTargets lists the targets that do not answer.
func (e *Editor) serveTargets(p *Request) (message.Reply, error) {
	q, asked := askedOf(p, "cursor")
	state := asked.Get("state")
	if !asked.Has("state") {
		state = "unhealthy"
	}
	page := targetsPage{
		Asked: asked, Own: p.Actor.Prefixes, IsChecked: e.ChecksTargets,
		MayEdit: service.ToChange.Check(p.Actor, registry.KindName) == nil,
	}
	in := p.Panel.In
	for _, s := range []healthState{
		{"unhealthy", in.Text("dead.about_unhealthy"), false},
		{"suspect", in.Text("dead.about_suspect"), false},
		{"inaccessible", in.Text("dead.about_inaccessible"), false},
		{stateMoved, in.Text("dead.about_moved"), false},
		{"healthy", in.Text("dead.about_healthy"), false},
		{"", in.Text("dead.about_all"), false},
	} {
		s.Chosen = s.State == state
		page.States = append(page.States, s)
	}
	switch state {
	case "":
	case stateMoved:
		q.Set("state", "healthy")
	default:
		q.Set("state", state)
	}
	for range healthPages { // those of other states are left out from pages, which may be empty
		found, next, err := e.Service.Health(p.Context(), p.Actor, q.Get("prefix"), health.State(q.Get("state")), service.Page{Cursor: q.Get("cursor")})
		if err != nil {
			return message.Reply{}, err
		}
		for _, t := range found {
			if state == stateMoved && t.Moved == "" {
				continue
			}
			page.Targets = append(page.Targets, e.brokenTargetOf(p, t))
		}
		if q.Set("cursor", next); next == "" || len(page.Targets) >= targetsShown {
			break
		}
	}
	if q.Get("cursor") != "" {
		q.Set("state", state)
		page.Next = PathTargets + "?" + q.Encode()
	}
	return e.show(p, in.Text("editor.dead_targets"), "targets.html", page), nil
}

func (e *Editor) brokenTargetOf(p *Request, t health.Target) brokenTarget {
	s := brokenTarget{Target: t, Answer: t.Error, Edit: "/registry/edit?" + url.Values{"uri": {t.Name}}.Encode()}
	if s.Answer == "" {
		s.Answer = string(t.Outcome)
	}
	if s.Server = serverOf(t.URI); s.Server == "" || !e.mayImport(p) {
		return s
	}
	s.Move = PathMove + "?" + url.Values{"replace": {s.Server}}.Encode()
	if serverOf(t.Moved) != "" {
		m := moveOf(t.URI, t.Moved)
		s.Move = PathMove + "?" + url.Values{"replace": {m.from}, "with": {m.to}}.Encode()
	}
	return s
}

// serverOf returns what the URIs of a server begin with, up to the first slash of the path; "" where there is none.
func serverOf(target string) string {
	u, err := uri.FromIRI(target)
	if err != nil {
		return ""
	}
	if host, ok := u.Host(); !ok || host == "" {
		return ""
	}
	authority, _ := u.Authority()
	server := u.Scheme() + "://" + authority + "/"
	if !strings.HasPrefix(target, server) {
		return "" // it is written in another way: octets are replaced
	}
	return server
}
