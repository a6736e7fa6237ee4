package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"
)

// storageRules changes with the rules of what is stored on disk for others: what was stored by others is not used.
const storageRules = 3

// DiskBasis identifies what responses on disk rest on. former is what it was up to f5e8e4c: what is on disk since then is used.
func (c Config) DiskBasis() (basis, former string) {
	return fmt.Sprintf("%d-%s", storageRules, c.Basis(Disk)), c.formerDisk()
}

// SnapshotBases identifies what a snapshot of answers rests on: first what it is saved with, then what that was in versions
// before, whose snapshots are used.
func (c Config) SnapshotBases() []string {
	return append([]string{c.Basis(Snapshot)}, c.formerSnapshots()...)
}

// formerDisk depends on how these settings are printed.
func (c Config) formerDisk() string {
	quoted := func(list any) string { return fmt.Sprintf("%q", list) }
	gateways := []any{
		c.Gateways.AllowPorts, c.Gateways.DenyPorts, quoted(c.Gateways.Templates), c.FTP.Enabled, c.FTP.Login, c.FTP.TLS, c.Gopher.Enabled,
		c.News.Enabled, quoted(c.News.Servers), c.News.Login, c.WAIS.Enabled, quoted(c.File.Roots),
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", []any{
		storageRules, quoted(c.Cache.HarmlessFields), c.Access.AllowDestinations,
		c.Proxy.Origins, c.Proxy.Upstreams, c.Proxy.Targeted, gateways,
	}))
	const enough = 12
	return hex.EncodeToString(sum[:enough])
}

// formerSnapshots are those of f5e8e4c, which had its own version in them: that of make, of go build, and of go build where Go
// asks git. They depend on how these settings are printed.
func (c Config) formerSnapshots() []string {
	registry := struct { // as it was then
		Store, Replica, Password      string
		TTL                           time.Duration
		Only                          []string
		Count                         bool
		HealthInterval                time.Duration
		HealthRate, HealthConcurrency int
		HealthPause                   time.Duration
		HealthContact                 string
	}{Store: c.Registry.Store, Replica: c.Registry.Replica, Password: c.Registry.Password, TTL: c.Registry.TTL, Only: c.Registry.Only, Count: c.Registry.Count}
	cache := struct { // likewise
		Answers, Records       Size
		StaleFor, RetryAfter   time.Duration
		Directory              string
		MaxSaved               Size
		Responses, MaxResponse Size
		HeuristicPercent       int
		HeuristicMax           time.Duration
		HarmlessFields         []string
		CollapseTimeout        time.Duration
		CollapseLimit          int
		Disk                   Size
		DiskDirectory          string
	}{}
	access := struct { // likewise
		AllowDestinations            []netip.Prefix
		ResolveClients, ProxyClients []netip.Prefix
		ProxyUsers                   string
		FreshClients                 []netip.Prefix
		CORS, Embedders              []string
		SecurityContact              string
		AdminClients                 []netip.Prefix
		AdminToken                   string
		TrustedProxies, PurgeClients []netip.Prefix
		AdminProxies                 []netip.Prefix
	}{AllowDestinations: c.Access.AllowDestinations}
	settings := map[string]any{
		"Access": access, "Cache": cache, "DDDS": c.DDDS, "DNS": c.DNS, "Namespaces": c.Namespaces,
		"Registry": registry, "Resolve": c.Resolve, "SLP": c.SLP, "THTTP": c.THTTP, "URN": c.URN,
	}
	var all []string
	for _, version := range []string{"f5e8e4c", "(devel)", "v0.0.0-20261123073432-f5e8e4c48b48"} {
		all = append(all, fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %+v", version, settings))))
	}
	return all
}
