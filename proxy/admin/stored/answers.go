package stored

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/slp"
	"github.com/urnd/urnd/uri"
)

// Answers implements api.Caches, over the cache of answers and what they were made of. All fields but those of systems
// must be set.
type Answers struct {
	Names   resolver.Names
	Answers resolver.Answers
	// URNs and URIs are the resolvers by DDDS, and Servers that by SLP; nil where they are turned off.
	URNs, URIs *ddds.Resolver
	Servers    *slp.Resolver
	// Records removes the records of the DNS whose keys has reports, and Found all servers that SLP has found.
	Records func(has func(key string) bool)
	Found   func()
	// Saved removes what was saved of the answers, which is not saved or restored meanwhile: Stop comes before the purge.
	Stop  func()
	Saved func() error
	// Publish tells a purge to other processes before it is done here; nil where there are none.
	Publish func(ctx context.Context, s resolver.Selection, soft bool)
	// Purged is told what was purged here, by this process or another one; nil is not.
	Purged func(s resolver.Selection)
	// Metrics returns the state of all caches.
	Metrics func() []metrics.Cache
}

// Stats implements api.Caches.
func (a Answers) Stats() any {
	type document struct {
		Lookups   map[string]uint64 `json:"lookups"`
		Evictions uint64            `json:"evictions"`
		Entries   int64             `json:"entries"`
		Bytes     int64             `json:"bytes"`
	}
	all := make(map[string]document)
	for _, m := range a.Metrics() {
		all[m.Name] = document{m.Lookups, m.Evictions, m.Entries, m.Bytes}
	}
	return map[string]any{"caches": all}
}

// Lookup implements api.Caches.
func (a Answers) Lookup(u uri.URI) ([]api.Entry, error) {
	name, err := a.Names.Key(u)
	if err != nil {
		return nil, err
	}
	var entries []api.Entry
	for _, r := range a.Answers.Lookup(name) {
		entries = append(entries, api.NewEntry(r))
	}
	return entries, nil
}

// Purge implements api.Caches. A purge that is not soft also reaches what the answers
// were made of: records of the DNS, and servers that SLP has found.
func (a Answers) Purge(ctx context.Context, s resolver.Selection, soft bool) (int, error) {
	if s.Name.IsValid() {
		var err error
		if s.Name, err = a.Names.Key(s.Name); err != nil {
			return 0, err
		}
	}
	if a.Publish != nil {
		a.Publish(ctx, s, soft)
	}
	return a.PurgeHere(ctx, s, soft)
}

// PurgeHere purges as Purge does, in this process alone. A name in the selection must be canonical.
func (a Answers) PurgeHere(ctx context.Context, s resolver.Selection, soft bool) (int, error) {
	a.Stop()
	purged := a.Answers.Purge(s, soft)
	if !soft {
		a.purgeSources(ctx, s, purged)
		// A request in between was answered by sources that were not purged yet.
		a.Answers.Purge(s, soft)
	}
	if a.Purged != nil {
		a.Purged(s)
	}
	// Purged answers must not be restored after a crash.
	if err := a.Saved(); err != nil {
		return len(purged), fmt.Errorf("removing the snapshot: %w", err)
	}
	return len(purged), nil
}

// maxPurgedNames bounds the names whose records are purged one by one: for more, all
// records are purged.
const maxPurgedNames = 10_000

// purgeSources purges what the answers of a selection were made of.
func (a Answers) purgeSources(ctx context.Context, s resolver.Selection, purged []string) {
	if s.All || len(purged) > maxPurgedNames {
		a.Records(func(string) bool { return true })
		a.Found()
		return
	}
	if s.Name.IsValid() { // also where it has no answer
		purged = append(purged, s.Name.String())
	}
	nids := map[string]bool{s.Namespace: s.Namespace != ""}
	var names []resolver.Query
	for _, name := range purged {
		if q, err := resolver.ParseQuery(name, resolver.I2L); err == nil {
			names = append(names, q)
			nids[q.NID()] = q.IsURN()
		}
	}
	for _, r := range []*ddds.Resolver{a.URNs, a.URIs} {
		if r != nil {
			r.Purge(ctx, names)
		}
	}
	for nid, is := range nids {
		if is {
			a.purgeNamespace(nid, nid == s.Namespace)
		}
	}
}

// purgeNamespace purges what was found for a namespace, and the records of all its names where whole is true.
func (a Answers) purgeNamespace(nid string, whole bool) {
	if whole && a.URNs != nil {
		a.Records(func(key string) bool { return a.URNs.OfNamespace(key, nid) })
	}
	if a.Servers != nil {
		a.Servers.Purge(nid)
	}
}
