package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/admin/stored"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/uri"
)

// minToken is the minimum length of the token of administrators, in octets.
const minToken = 16

var errShortToken = fmt.Errorf("access.admin_token: the token is shorter than %d octets", minToken)

// newAdmin returns the handler of the admin interface.
func newAdmin(c config.Config, r *resolution, s *service, d dependencies) (*admin.Handler, error) {
	a := admin.Config{
		Clients: c.Access.AdminClients, Proxies: c.Access.AdminProxies, Own: ownHosts(c.Listen), Guesses: gate.NewGuesses(d.now), Certificate: c.TLS.ClientCA != "", Metrics: d.metrics.Handler(), Log: d.log,
		Caches: caches{r, snapshotPath(c.Cache), d}, Responses: stored.New(s.responses, s.refresh), Registry: wireAdminRegistry(c, r, s, d), Health: r.healthReport(d.health.Report), Panicked: d.panicked,
		HasResponses: gatewayInfos(c).IsStored,
		Settings:     func() any { return config.Plain(c.Map()) },
	}
	if c.Access.AdminToken != "" {
		token, err := secret.Read("access.admin_token", c.Access.AdminToken)
		if err != nil {
			return nil, err
		}
		if a.Token = bytes.TrimSpace(token); len(a.Token) < minToken {
			return nil, errShortToken
		}
	}
	return admin.New(a), nil
}

// ownHosts returns the hosts by which clients reach this urnd.
func ownHosts(c config.Listen) route.OwnHosts { return route.NewOwnHosts(ownNames(c)...) }

// caches implements admin.Caches.
type caches struct {
	*resolution
	snapshot string // the path of the snapshot, "" for none
	d        dependencies
}

// Stats implements admin.Caches.
func (c caches) Stats() any {
	type document struct {
		Lookups   map[string]uint64 `json:"lookups"`
		Evictions uint64            `json:"evictions"`
		Entries   int64             `json:"entries"`
		Bytes     int64             `json:"bytes"`
	}
	all := make(map[string]document)
	for _, m := range c.cacheMetrics() {
		all[m.Name] = document{m.Lookups, m.Evictions, m.Entries, m.Bytes}
	}
	return map[string]any{"caches": all}
}

// Lookup implements admin.Caches.
func (c caches) Lookup(u uri.URI) ([]api.Entry, error) {
	name, err := c.names.Key(u)
	if err != nil {
		return nil, err
	}
	var entries []api.Entry
	for _, r := range c.answers.Lookup(name) {
		entries = append(entries, api.NewEntry(r))
	}
	return entries, nil
}

// Purge implements admin.Caches. A purge that is not soft also reaches what the answers
// were made of: records of the DNS, and servers that SLP has found.
func (c caches) Purge(ctx context.Context, s resolver.Selection, soft bool) (int, error) {
	if s.Name.IsValid() {
		var err error
		if s.Name, err = c.names.Key(s.Name); err != nil {
			return 0, err
		}
	}
	c.d.snapshot.Stop()
	purged := c.answers.Purge(s, soft)
	if !soft {
		c.purgeSources(ctx, s, purged)
		// A request in between was answered by sources that were not purged yet.
		c.answers.Purge(s, soft)
	}
	// Purged answers must not be restored after a crash.
	if err := c.d.snapshot.Remove(c.snapshot); err != nil {
		return len(purged), fmt.Errorf("removing the snapshot: %w", err)
	}
	return len(purged), nil
}

// maxPurgedNames bounds the names whose records are purged one by one: for more, all
// records are purged.
const maxPurgedNames = 10_000

// purgeSources purges what the answers of a selection were made of.
func (c caches) purgeSources(ctx context.Context, s resolver.Selection, purged []string) {
	if s.All || len(purged) > maxPurgedNames {
		c.purgeAllSources()
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
	for _, r := range []*ddds.Resolver{c.urns, c.uris} {
		if r != nil {
			r.Purge(ctx, names)
		}
	}
	for nid, is := range nids {
		if !is {
			continue
		}
		if nid == s.Namespace && c.urns != nil {
			c.records.PurgeAll(c.records.store, func(key string) bool { return c.urns.OfNamespace(key, nid) }, false)
		}
		if c.servers != nil {
			c.servers.Purge(nid)
		}
	}
}

// purgeAllSources purges all records, and all servers that SLP has found.
func (c caches) purgeAllSources() {
	c.records.purgeAll()
	c.found.purgeAll()
}
