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

// PathTargets is the path of the list of unhealthy targets.
const PathTargets = "/registry/targets"

const (
	// targetsShown is the number of targets after which a page ends. healthPages limits the pages of the
	// service that are read for it.
	targetsShown = 50
	healthPages  = 20
)

// stateMoved is the pseudo-state of healthy targets with a permanent redirect; the registry does not know it.
const stateMoved = "moved"

// healthState is a state that can be selected.
type healthState struct {
	State, Description string
	Chosen             bool
}

// brokenTarget is an unhealthy target with links to its repair.
type brokenTarget struct {
	health.Target
	Answer string // response of its server, or the error
	Server string // "https://old.example.org/": the beginning of the URIs on its server; "" if no move is offered
	Move   string // path of the form that moves all targets of that server, "" if not offered
	Edit   string
}

// targetsPage is the data of the list of targets.
type targetsPage struct {
	Query   url.Values
	Own     []string
	States  []healthState
	Targets []brokenTarget
	Next    string
	MayEdit bool
	// IsChecked is true if targets are checked at all.
	IsChecked bool
}

// serveTargets lists the unhealthy targets.
func (e *Editor) serveTargets(p *Request) (message.Reply, error) {
	q, requested := queryOf(p, "cursor")
	state := requested.Get("state")
	if !requested.Has("state") {
		state = "unhealthy"
	}
	page := targetsPage{
		Query: requested, Own: p.Actor.Prefixes, IsChecked: e.ChecksTargets,
		MayEdit: service.ToChange.Check(p.Actor, registry.KindName) == nil,
	}
	in := p.Panel.Writer
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
	for range healthPages { // a page of the service may be empty, since it filters by state
		found, next, err := e.Service.Health(p.Context(), p.Actor, q.Get("prefix"), health.State(q.Get("state")),
			service.Page{Cursor: q.Get("cursor")})
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

// serverOf returns the beginning of the URIs on a server, up to the first slash of the path; "" for a URI
// without a host.
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
		return "" // it is spelled differently: characters were percent-encoded
	}
	return server
}
