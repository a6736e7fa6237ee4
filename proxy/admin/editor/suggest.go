package editor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

const (
	// lookedAt is how many of the last versions of all names are looked at for suggestions, and lookedUp of how many names the version before.
	lookedAt = 1000
	lookedUp = 100
	// suggested is how many moves are suggested at most.
	suggested = 5
)

// suggestion is where targets may have moved to.
type suggestion struct {
	Replace, With string // what they begin with
	Why           string
	Path          string
}

// move is what the targets of a name began with, and what they begin with.
type move struct{ from, to string }

// suggest returns where targets may have moved to that begin so: to the same server by TLS, and to where other names were moved lately.
// HasLooked is false where the last changes are not to be seen.
func (e *Editor) suggest(p *Request, start string) (all []suggestion, hasLooked bool) {
	if rest, ok := strings.CutPrefix(start, "http://"); ok {
		all = append(all, suggestion{Replace: start, With: "https://" + rest, Why: p.Panel.In.Text("suggest.tls")})
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
		all = append(all, suggestion{Replace: m.from, With: m.to, Why: p.Panel.In.Text("suggest.moved", "Count", counts[m])})
	}
	return all, hasLooked
}

// lastMoves returns how many of the names that were changed last were moved away from a host, by from where to where.
func (e *Editor) lastMoves(p *Request, host string) (counts map[move]int, hasLooked bool) {
	if p.Actor.Prefixes != nil {
		return nil, false // only who may see all names sees where the last changes are
	}
	now, err := e.Service.Totals(p.Context(), p.Actor, registry.Search{})
	var changed service.Events
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
	slices.Reverse(changed.Events) // of a name the last changes first
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
	for name, first := range before { // of which the version before is older
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

// countMoves counts where a version has targets that has left a host.
func countMoves(counts map[move]int, host string, before, after *registry.Entry) {
	for i, t := range before.Targets {
		if !strings.Contains(t.URI, host) || slices.ContainsFunc(after.Targets, func(a registry.Target) bool { return strings.Contains(a.URI, host) }) {
			continue
		}
		if i >= len(after.Targets) || serverOf(after.Targets[i].URI) == "" {
			continue
		}
		counts[moveOf(t.URI, after.Targets[i].URI)]++
	}
}

// moveOf returns the least that is replaced by a move: up to the slash after which both URIs are equal. Where they end otherwise, it is of
// the servers.
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
		return move{serverOf(from), serverOf(to)} // what is equal begins within the name of the host
	}
	return move{from[:len(from)-equal], to[:len(to)-equal]}
}
