package editor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/service"
)

// PathMove is the path of the form that moves the targets of many names.
const PathMove = "/registry/targets/move"

// movePage is the data of the form that moves targets.
type movePage struct {
	Field                       pages.Content
	Error                       pages.Content
	Prefix, Replace, With, Note string
	Names                       string // path of the list of names with such targets
	Suggested                   []suggestion
	HasLooked                   bool // the last changes were searched for suggestions
}

// serveMove shows the form that moves the targets of many names, and starts a dry run or the job itself.
func (e *Editor) serveMove(p *Request) (message.Reply, error) {
	if p.Method != http.MethodPost {
		return e.showMove(p, nil), nil
	}
	if p.Form.Get("do") == doImport {
		d, ok := e.Drafts.find(p, p.URL.Query().Get("draft"))
		if !ok {
			return gone(p, e.serveJobs)
		}
		if d.Kind != jobs.Rewrite || d.Checked == "" || d.Checked != p.Form.Get("checked") {
			return e.showMove(p, errNoDraft), nil
		}
		return e.sendDraft(p, d)
	}
	asOf, err := e.Service.LastSeq(p.Context(), p.Actor) // what others change after the preview is a conflict
	if err != nil {
		return message.Reply{}, err
	}
	body, err := json.Marshal(jobs.RewriteBody{
		Prefix: strings.TrimSpace(p.Form.Get("prefix")), Replace: strings.TrimSpace(p.Form.Get("replace")),
		With: strings.TrimSpace(p.Form.Get("with")), AsOf: int64(asOf),
	})
	if err != nil {
		return message.Reply{}, fmt.Errorf("%w: %w", registry.ErrInvalid, err)
	}
	d, err := e.Drafts.begin(p, draft{Kind: jobs.Rewrite, Note: strings.TrimSpace(p.Form.Get("note"))}, body)
	if err == nil {
		var reply message.Reply
		if reply, err = e.checkDraft(p, d); err == nil {
			return reply, nil
		}
		e.Drafts.end(d)
	}
	if status := problem.Status(err); status >= http.StatusInternalServerError || status == http.StatusUnauthorized {
		return message.Reply{}, err
	}
	return e.showMove(p, err), nil
}

// redisplayMove shows the form as it was submitted.
func (e *Editor) redisplayMove(p *Request) (message.Reply, error) { return e.showMove(p, nil), nil }

// showMove shows the form: as it was submitted, as it was in the dry run before, or with the parameters of a
// link.
func (e *Editor) showMove(p *Request, failure error) message.Reply {
	page := movePage{Field: p.Field.HTML()}
	given := p.URL.Query()
	d, ok := e.Drafts.find(p, given.Get("draft"))
	var before jobs.RewriteBody
	switch {
	case p.Form.Has("replace"):
		given = p.Form
	case given.Has("replace"):
	case ok && d.Kind == jobs.Rewrite:
		if body, err := d.beginning(d.Bytes); err == nil && json.Unmarshal(body, &before) == nil {
			given = url.Values{
				"prefix": {before.Prefix}, "replace": {before.Replace}, "with": {before.With},
				"note": {d.Note},
			}
		}
	}
	page.Prefix, page.Replace, page.With, page.Note = given.Get("prefix"), given.Get("replace"), given.Get("with"),
		given.Get("note")
	if p.Form == nil && page.Prefix == "" && len(p.Actor.Prefixes) > 0 {
		page.Prefix = p.Actor.Prefixes[0]
	}
	if page.Replace != "" {
		page.Suggested, page.HasLooked = e.suggest(p, page.Replace)
		page.Names = "/registry/names?" +
			url.Values{"target": {hostPart(page.Replace)}, "prefix": {page.Prefix}}.Encode()
	}
	for i := range page.Suggested {
		page.Suggested[i].Path = PathMove + "?" +
			url.Values{
				"prefix": {page.Prefix}, "replace": {page.Suggested[i].Replace},
				"with": {page.Suggested[i].With},
			}.Encode()
	}
	p.Panel.Crumbs = []pages.Item{{Label: p.Panel.Writer.Text("editor.dead_targets"), Path: PathTargets}}
	page.Error = errorContent(p.Panel.Writer, failure)
	return withErrorStatus(e.show(p, p.Panel.Writer.Text("move.title"), "move.html", page), failure)
}

// hostPart returns the part of the beginning of a URI that an index has: "//host/".
func hostPart(start string) string {
	if server := serverOf(start); server != "" {
		_, rest, _ := strings.Cut(server, ":")
		return rest
	}
	return start
}

const (
	// lookedAt is the number of latest versions of all names that are searched for suggestions, and lookedUp
	// the number of names whose previous version is read.
	lookedAt = 1000
	lookedUp = 100
	// suggested limits the number of suggestions.
	suggested = 5
)

// suggestion is a move of targets that is probably useful.
type suggestion struct {
	Replace, With string // beginnings of target URIs
	Why           string
	Path          string
}

// move replaces the beginning of target URIs.
type move struct{ from, to string }

// suggest returns moves for targets that begin with start: to the same server over TLS, and to the servers
// that targets of other names were moved to recently. hasLooked is false if the actor may not read the last
// changes.
func (e *Editor) suggest(p *Request, start string) (all []suggestion, hasLooked bool) {
	if rest, ok := strings.CutPrefix(start, "http://"); ok {
		all = append(all, suggestion{Replace: start, With: "https://" + rest, Why: p.Panel.Writer.Text("suggest.tls")})
	}
	host := hostPart(start)
	counts, hasLooked := e.lastMoves(p, host)
	moves := make([]move, 0, len(counts))
	for m := range counts {
		moves = append(moves, m)
	}
	slices.SortFunc(moves, func(a, b move) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a.from, b.from), strings.Compare(a.to, b.to))
	})
	for _, m := range moves[:min(len(moves), suggested)] {
		all = append(all, suggestion{
			Replace: m.from, With: m.to,
			Why: p.Panel.Writer.Text("suggest.moved", "Count", counts[m]),
		})
	}
	return all, hasLooked
}

// lastMoves returns the number of recently changed names whose targets were moved away from a host, by move.
func (e *Editor) lastMoves(p *Request, host string) (counts map[move]int, hasLooked bool) {
	if p.Actor.Prefixes != nil {
		return nil, false // only an actor without owned prefixes may read all changes
	}
	now, err := e.Service.Totals(p.Context(), p.Actor, registry.Search{})
	var changed service.EventPage
	if err == nil {
		page := service.Page{Limit: lookedAt, After: max(now.Seq-lookedAt, 0)}
		changed, err = e.Service.Events(p.Context(), p.Actor, 0, "", page)
	}
	if err != nil {
		e.Failed(p.Request, p.Actor, err)
		return nil, false
	}
	counts = make(map[move]int)
	before := make(map[string]*registry.Entry)
	looked := 0
	slices.Reverse(changed.Events) // newest first
	for i := range changed.Events {
		v := &changed.Events[i].Version
		if changed.Events[i].Kind != "" || v.Kind == registry.KindPrefix {
			continue
		}
		if later := before[v.Name]; later != nil {
			countMoves(counts, host, v, later)
		}
		before[v.Name] = v
	}
	for name, first := range before { // names whose previous version is older than the events
		if first.Version < 2 || len(first.Targets) == 0 {
			continue
		}
		if looked++; looked > lookedUp {
			break
		}
		page := service.Page{Limit: 1, After: first.Seq}
		history, err := e.Service.History(p.Context(), p.Actor, registry.Name(name), page)
		if err == nil && len(history.Entries) > 0 {
			countMoves(counts, host, &history.Entries[0], first)
		}
	}
	return counts, true
}

// countMoves counts the moves of targets away from a host between two versions.
func countMoves(counts map[move]int, host string, before, after *registry.Entry) {
	for i, t := range before.Targets {
		if !strings.Contains(t.URI, host) ||
			slices.ContainsFunc(after.Targets, func(a registry.Target) bool { return strings.Contains(a.URI, host) }) {
			continue
		}
		if i >= len(after.Targets) || serverOf(after.Targets[i].URI) == "" {
			continue
		}
		counts[moveOf(t.URI, after.Targets[i].URI)]++
	}
}

// moveOf returns the shortest replacement of a move: up to the slash after which both URIs are equal. If they
// have no such slash, it replaces the server.
func moveOf(from, to string) move {
	equal := 0
	for equal < min(len(from), len(to)) && from[len(from)-1-equal] == to[len(to)-1-equal] {
		equal++
	}
	slash := strings.IndexByte(from[len(from)-equal:], '/')
	if slash < 0 {
		return move{serverOf(from), serverOf(to)}
	}
	if equal -= slash + 1; len(from)-equal < len(serverOf(from)) || len(to)-equal < len(serverOf(to)) {
		return move{serverOf(from), serverOf(to)} // the equal part begins within the host name
	}
	return move{from[:len(from)-equal], to[:len(to)-equal]}
}
