package lookup

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/urnns/digitallink"
)

// level is the registered entry at one level of an identifier in a web address.
type level struct {
	found resolved
	err   error // reason why it does not resolve, a *resolver.Negative; nil if it does
}

// findLevels returns the registered entries at the levels of a name, most specific first. If there are none,
// the longest prefix applies as for other names. err is an error of the store.
func (r *Resolver) findLevels(
	ctx context.Context, s state, q resolver.Query, names []string,
) (levels []level, err error) {
	for _, name := range names {
		e, err := s.entry(registry.Name(name))
		if err != nil {
			return nil, err
		}
		if !e.Exists() {
			continue
		}
		at := level{}
		at.found, at.err = resolve(ctx, s, name)
		if at.err != nil && !errors.As(at.err, new(*resolver.Negative)) {
			return nil, at.err
		}
		if at.err == nil && at.found.redirect == 0 && q.Service.Locates() {
			at.found.redirect, err = r.inherited(ctx, s, at.found.name)
		}
		if err != nil {
			return nil, err
		}
		at.found.requested = name
		levels = append(levels, at)
	}
	return levels, nil
}

// levelsThen is findLevels for a query as of a time, restricted to targets that may still be shown.
func (r *Resolver) levelsThen(ctx context.Context, q resolver.Query, names []string) (levels []level, err error) {
	err = r.config.Store.Read(ctx, func(tx registry.Tx) error {
		all, err := r.findLevels(ctx, asOfState{tx, q.At}, q, names)
		if err != nil {
			return err
		}
		for _, at := range all {
			var hidden *resolver.Negative
			if at.err == nil {
				if err := stillShown(ctx, txState{tx}, at.found, at.found.requested); errors.As(err, &hidden) {
					at.err = hidden
				} else if err != nil {
					return err
				}
			}
			levels = append(levels, at)
		}
		return nil
	})
	return levels, err
}

// resolveLevels answers a query for an identifier from all of its levels, whose names are given. ok is false if
// none of them is registered.
func (r *Resolver) resolveLevels(
	ctx context.Context, q resolver.Query, names []string,
) (answer resolver.Answer, ok bool, err error) {
	var levels []level
	if q.At.IsZero() {
		levels, err = r.findLevels(ctx, storeState{ctx, r.config.Store}, q, names)
	} else {
		levels, err = r.levelsThen(ctx, q, names)
	}
	if err != nil || len(levels) == 0 {
		return resolver.Answer{}, err != nil, err
	}
	first := levels[0]
	if errors.Is(first.err, resolver.ErrGone) && first.found.requested == names[0] {
		return resolver.Answer{}, true, first.err // the requested name itself is withdrawn
	}
	if !q.Service.Locates() {
		at := first
		for _, other := range levels { // a reserved or withdrawn entry is described only as a last resort
			if at.err != nil && other.err == nil {
				at = other
			}
		}
		if at.err != nil {
			return resolver.Answer{}, true, at.err
		}
		answer, err = r.answer(ctx, q, at.found)
		return answer, true, err
	}
	answer, err = r.combined(q, levels)
	return answer, true, err
}

// combined returns the locations of the most specific level that resolves, with the links of all levels. The
// anchor of a link is its level, unless that is the requested name: GS1-Conformant Resolver standard section
// 2.5.9.
func (r *Resolver) combined(q resolver.Query, levels []level) (resolver.Answer, error) {
	var sum levelResult
	sum.ttl, sum.clients = r.config.TTL, r.clients()
	requested := q.URI.String()
	for _, at := range levels {
		anchor := at.found.requested
		if anchor == requested {
			anchor = ""
		}
		if at.err != nil {
			sum.fails(at.err)
			continue
		}
		// As in the examples of the standard.
		at.found.redirect = cmp.Or(at.found.redirect, http.StatusTemporaryRedirect)
		answer, err := r.located(q, at.found)
		var n *resolver.Negative
		switch {
		case err == nil:
			sum.add(answer.Record(), answer.Locations, anchor)
			sum.ttl = min(sum.ttl, answer.TTL)
		case errors.As(err, &n):
			sum.add(n.Record, nil, anchor)
			sum.ttl = min(sum.ttl, n.TTL)
			sum.fails(err)
		default:
			return resolver.Answer{}, err
		}
	}
	return sum.answer()
}

// levelResult merges the results of the levels of a name.
type levelResult struct {
	record     *resolver.Record // of the most specific level that is registered and active
	links      []resolver.Link
	locations  []resolver.Location
	redirect   int
	bounded    bool // by the start or end of a target's validity
	negotiable bool
	ttl        time.Duration
	clients    resolver.ClientTTL
	failure    error // of the most specific level that does not resolve
}

// fails records why a level does not resolve. A withdrawn level takes precedence over one without a default.
func (g *levelResult) fails(err error) {
	if g.failure == nil || errors.Is(err, resolver.ErrGone) && !errors.Is(g.failure, resolver.ErrGone) {
		g.failure = err
	}
}

// add merges a level: its links are added, and its locations too, as links if a more specific level already has
// locations.
func (g *levelResult) add(record *resolver.Record, locations []resolver.Location, anchor string) {
	if g.record == nil {
		g.record = record
	}
	isDefault := len(g.locations) == 0
	for _, l := range locations {
		if isDefault {
			g.locations = append(g.locations, anchored(l, anchor))
			continue
		}
		link := l.ToLink()
		link.Anchor, link.Rel = anchor, cmp.Or(link.Rel, digitallink.DefaultLink)
		g.links = append(g.links, link)
	}
	if isDefault && len(locations) > 0 {
		g.redirect = record.Redirect
	}
	for _, link := range record.Links {
		link.Anchor = anchor
		g.links = append(g.links, link)
		isMulti := digitallink.TypeOf(link.Rel) == digitallink.DefaultLinkMulti
		// A level less specific than the default does not compete with it.
		g.negotiable = g.negotiable || isMulti && isDefault
	}
	g.bounded = g.bounded || record.ClientTTL.Bounded
}

// anchored returns a location with the anchor of its level.
func anchored(l resolver.Location, anchor string) resolver.Location {
	if anchor == "" {
		return l
	}
	from := *l.From
	from.Relation = &resolver.Relation{Anchor: anchor}
	if of := l.From.Relation; of != nil {
		from.Relation = &resolver.Relation{Anchor: anchor, Rel: of.Rel, Title: of.Title, Context: of.Context}
	}
	return resolver.Location{URI: l.URI, From: &from}
}

// answer returns the merged answer, or the error of the most specific level if none resolves.
func (g *levelResult) answer() (resolver.Answer, error) {
	var n *resolver.Negative
	if g.record == nil || len(g.locations) == 0 {
		if !errors.As(g.failure, &n) {
			return resolver.Answer{}, g.failure
		}
		failure := *n
		failure.TTL, failure.ClientTTL = min(cmp.Or(n.TTL, g.ttl), g.ttl), g.clients
		failure.ClientTTL.Bounded = g.bounded
		if g.record != nil && !errors.Is(failure.Kind, resolver.ErrGone) {
			record := *g.record
			record.Links = g.links
			failure.Record = &record
		}
		return resolver.Answer{}, &failure
	}
	record := *g.record
	record.Links, record.Redirect, record.Negotiable, record.ClientTTL.Bounded = slices.Clip(g.links), g.redirect,
		g.negotiable, g.bounded
	sources := make(map[*resolver.Source]*resolver.Source, 1)
	for i, l := range g.locations {
		if sources[l.From] == nil {
			from := *l.From
			from.Record = &record
			sources[l.From] = &from
		}
		g.locations[i].From = sources[l.From]
	}
	return resolver.Answer{Locations: g.locations, TTL: g.ttl}, nil
}
