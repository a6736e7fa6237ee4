package lookup

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
)

// answer answers a query from an entry whose targets may be used.
func (r *Resolver) answer(ctx context.Context, q resolver.Query, found resolved) (resolver.Answer, error) {
	switch q.Service {
	case resolver.I2L, resolver.I2Ls:
		return r.located(q, found)
	case resolver.I2N, resolver.I2Ns:
		return r.named(ctx, q, found, r.described(&found.entry))
	default:
		record := r.described(&found.entry)
		// The record itself is the description. Other systems are not queried for the description of a
		// registered name.
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrService, Reason: "no further description in the registry",
			Code: "no_description", TTL: r.config.TTL, ClientTTL: record.ClientTTL, Record: record,
		}
	}
}

// described returns the record of an entry, with the configured lifetime for clients.
func (r *Resolver) described(e *registry.Entry) *resolver.Record {
	record := recordOf(e)
	record.ClientTTL = r.clients()
	return record
}

// located returns the targets that are valid now, or at the time of the query.
func (r *Resolver) located(q resolver.Query, found resolved) (resolver.Answer, error) {
	at := q.At
	if at.IsZero() {
		at = r.config.Now()
	}
	targets, until := validAt(found.entry.Targets, at)
	ttl := r.config.TTL
	if !until.IsZero() {
		ttl = min(ttl, max(until.Sub(at), time.Second))
	}
	none, code := "registered name without a current target", "no_target_now"
	locations := make([]resolver.Location, 0, len(targets))
	origin := &struct { // in a single allocation, as they are used together
		source resolver.Source
		record resolver.Record
	}{record: makeRecord(&found.entry)}
	source, record := &origin.source, &origin.record
	source.Name, source.Record = "registry", record
	record.Redirect = cmp.Or(found.redirect, r.config.Redirect)
	record.ClientTTL = r.clients()
	record.ClientTTL.Bounded = !until.IsZero() &&
		until.Sub(at) < r.config.TTL+max(r.config.ClientTTL, r.config.SharedTTL)
	for _, t := range targets {
		location := t.URI
		if found.entry.Kind == registry.KindPrefix {
			var err error
			if location, err = t.Location(found.entry.Key, found.below()); errors.Is(err, registry.ErrEscapesTarget) {
				none, code = err.Error(), "leaves_prefix"
			}
			if err != nil || len(location) > resolver.MaxLocation || resolver.CheckLocation(location) != nil {
				continue // the scheme of a template may come from the name
			}
		}
		if !t.ResolvedTo() {
			record.Links = append(record.Links, resolver.Link{
				URI: location, Rel: t.Rel, Title: t.Title, Type: t.Type, Language: t.Language, Context: t.Context,
			})
			continue
		}
		locations = append(locations, resolver.Location{URI: location, From: sourceOf(source, t)})
	}
	if len(locations) == 0 {
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrNotFound, Reason: none,
			Code: code, TTL: ttl, ClientTTL: record.ClientTTL, Record: record,
		}
	}
	return resolver.Answer{Locations: locations, TTL: ttl}, nil
}

// sourceOf returns the source of a target of an entry.
func sourceOf(of *resolver.Source, t registry.Target) *resolver.Source {
	if t.Type == "" && t.Language == "" && t.Rel == "" && t.Title == "" && t.Context == "" {
		return of
	}
	own := *of
	own.Type, own.Language = t.Type, t.Language
	if t.Rel != "" || t.Title != "" || t.Context != "" {
		own.Relation = &resolver.Relation{Rel: t.Rel, Title: t.Title, Context: t.Context}
	}
	return &own
}

// validAt returns the targets that are valid at a time, lowest priority first, and the next time at which that
// set changes; the zero value is never.
func validAt(targets []registry.Target, at time.Time) (valid []registry.Target, until time.Time) {
	if len(targets) == 1 && targets[0].From.IsZero() && targets[0].Until.IsZero() { // the fast path for most names
		return targets, time.Time{}
	}
	soonest := func(t time.Time) {
		if t.After(at) && (until.IsZero() || t.Before(until)) {
			until = t
		}
	}
	for _, t := range targets {
		soonest(t.From)
		soonest(t.Until)
		if t.ValidAt(at) {
			valid = append(valid, t)
		}
	}
	slices.SortStableFunc(valid, func(a, b registry.Target) int { return cmp.Compare(a.Priority, b.Priority) })
	return valid, until
}

// maxNames limits the other names in a response.
const maxNames = 100

// named returns the other names of a name: the target of the alias, and the aliases.
func (r *Resolver) named(
	ctx context.Context, q resolver.Query, found resolved, record *resolver.Record,
) (resolver.Answer, error) {
	var locations []resolver.Location
	requested := q.URI.String()
	source := &resolver.Source{Name: "registry", Record: record}
	err := r.config.Store.Read(ctx, func(tx registry.Tx) error {
		aliases, err := tx.Aliases(found.name, "", maxNames)
		for _, other := range append([]string{found.name}, aliases...) {
			if other != requested && other != q.Spelling.String() {
				locations = append(locations, resolver.Location{URI: other, From: source})
			}
		}
		return err
	})
	switch {
	case err != nil:
		return resolver.Answer{}, &unavailable{err}
	case len(locations) == 0:
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrNotFound, Reason: "no other name in the registry",
			Code: "no_other_name", TTL: r.config.TTL, ClientTTL: record.ClientTTL, Record: record,
		}
	}
	return resolver.Answer{Locations: locations, TTL: r.config.TTL}, nil
}

// below returns the name whose rest, behind the prefix of the entry, is passed to the target. It preserves the
// requested spelling, since characters that are insignificant in a comparison of names, such as the hyphens of
// an ARK, may be significant for the target.
func (r resolved) below() string {
	if r.spelling == "" {
		return r.name
	}
	if rest, ok := restOf(r.spelling, r.entry.Name); ok {
		return r.entry.Name + rest
	}
	return r.name
}

// restOf returns the part of a spelling behind a canonical prefix.
func restOf(spelling, prefix string) (string, bool) {
	const end = "0" // a name has at least one character behind its prefix
	// Limit for insignificant characters: a spelling with more is not supported.
	most := 2*len(prefix) + len("%E2%80%90")
	for i := 1; i < min(len(spelling), most); i++ {
		if !registry.IsDelimiter(spelling[i-1]) {
			continue
		}
		if u, err := uri.Parse(spelling[:i] + end); err == nil && u.Name().String() == prefix+end {
			return spelling[i:], true
		}
	}
	return "", false
}
