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

// Answers implements api.Caches for the cache of resolver answers and its sources (DDDS and SLP). All fields
// must be set, except those whose comments allow nil.
type Answers struct {
	Names   resolver.Names
	Answers resolver.AnswerCache
	// URNs and URIs are the DDDS resolvers, and Servers is the SLP resolver; nil where they are disabled.
	URNs, URIs *ddds.Resolver
	Servers    *slp.Resolver
	// PurgeRecords removes the cached DNS records whose keys has reports, and PurgeDiscovered all servers that SLP has
	// discovered.
	PurgeRecords    func(has func(key string) bool)
	PurgeDiscovered func()
	// RemoveSnapshot removes the snapshot of the answers. StopSaving is called before the purge, so that no snapshot is
	// saved or restored meanwhile.
	StopSaving     func()
	RemoveSnapshot func() error
	// Publish announces a purge to other processes before it is done here; nil without other processes.
	Publish func(ctx context.Context, s resolver.Selection, soft bool)
	// Purged is called after each purge, of this process or another one; nil is allowed.
	Purged func(s resolver.Selection)
	// Metrics returns the metrics of all caches.
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
	name, err := a.Names.CanonicalName(u)
	if err != nil {
		return nil, err
	}
	var entries []api.Entry
	for _, r := range a.Answers.Lookup(name) {
		entries = append(entries, api.NewEntry(r))
	}
	return entries, nil
}

// Purge implements api.Caches. A hard purge also purges the sources of the answers: DNS records, and servers
// that SLP has discovered.
func (a Answers) Purge(ctx context.Context, s resolver.Selection, soft bool) (int, error) {
	if s.Name.IsValid() {
		var err error
		if s.Name, err = a.Names.CanonicalName(s.Name); err != nil {
			return 0, err
		}
	}
	if a.Publish != nil {
		a.Publish(ctx, s, soft)
	}
	return a.PurgeHere(ctx, s, soft)
}

// PurgeHere purges in this process only. A name in the selection must be canonical.
func (a Answers) PurgeHere(ctx context.Context, s resolver.Selection, soft bool) (int, error) {
	a.StopSaving()
	purged := a.Answers.Purge(s, soft)
	if !soft {
		a.purgeSources(ctx, s, purged)
		// A concurrent request may have been answered from sources that were not purged yet.
		a.Answers.Purge(s, soft)
	}
	if a.Purged != nil {
		a.Purged(s)
	}
	// A snapshot with purged answers must not be restored after a crash.
	if err := a.RemoveSnapshot(); err != nil {
		return len(purged), fmt.Errorf("removing the snapshot: %w", err)
	}
	return len(purged), nil
}

// maxPurgedNames limits the names whose DNS records are purged one by one: for more names, all records are
// purged.
const maxPurgedNames = 10_000

// purgeSources purges the sources of the answers of a selection.
func (a Answers) purgeSources(ctx context.Context, s resolver.Selection, purged []string) {
	if s.All || len(purged) > maxPurgedNames {
		a.PurgeRecords(func(string) bool { return true })
		a.PurgeDiscovered()
		return
	}
	if s.Name.IsValid() { // also without a cached answer
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

// purgeNamespace purges the servers of a namespace and, if whole is true, the DNS records of all its names.
func (a Answers) purgeNamespace(nid string, whole bool) {
	if whole && a.URNs != nil {
		a.PurgeRecords(func(key string) bool { return a.URNs.IsFirstKey(key, nid) })
	}
	if a.Servers != nil {
		a.Servers.Purge(nid)
	}
}
