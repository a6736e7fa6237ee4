package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/uri"
)

// responses is the cache of HTTP responses and its store, which is nil where the cache is turned
// off.
type responses struct {
	*httpcache.Cache
	store *memory.Store[*httpcache.Entry]
}

// diskBasis stands for what responses on disk depend on, also over a restart.
func diskBasis(c config.Config) string {
	return fmt.Sprintf("%d-%s", storageRules, c.Basis(config.Disk))
}

// formerDiskBasis is what diskBasis was in version 0.5: what is on disk since then is used. It depends on how these settings are
// printed.
func formerDiskBasis(c config.Config) string {
	quoted := func(list any) string { return fmt.Sprintf("%q", list) }
	gateways := []any{
		c.Gateways.AllowPorts, c.Gateways.DenyPorts, quoted(c.Gateways.Templates), c.FTP.Enabled, c.FTP.Login, c.FTP.TLS, c.Gopher.Enabled,
		c.News.Enabled, quoted(c.News.Servers), c.News.Login, c.WAIS.Enabled, quoted(c.File.Roots),
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", []any{
		storageRules, quoted(c.Cache.HarmlessFields), c.Access.AllowDestinations, c.Proxy.Origins, c.Proxy.Upstreams, c.Proxy.Targeted, gateways,
	}))
	const enough = 12
	return hex.EncodeToString(sum[:enough])
}

// storageRules changes with the rules of what is stored for others: what was stored by others is not used.
const storageRules = 3

// newResponses returns the cache of HTTP responses: the one of the previous configuration where
// nothing that it depends on has changed.
func newResponses(c config.Config, r *resolution, d dependencies) (responses, error) {
	var previous *shared.Values
	if d.previous != nil {
		previous = &d.previous.shared
	}
	files, err := newDisk(c.Cache, r, d, previous)
	if err != nil {
		return responses{}, err
	}
	made, err := shared.Reuse(&r.shared, previous, "responses", c.Basis(config.Responses), func() (responses, func(), error) {
		return makeResponses(c, files.Store, d)
	})
	if err == nil {
		r.caches = append(r.caches, made)
	}
	return made, err
}

func makeResponses(c config.Config, files *disk.Store, d dependencies) (responses, func(), error) {
	settings := httpcache.Config{
		Now: d.now, Disk: files, Basis: diskBasis(c), FormerBasis: formerDiskBasis(c),
		Heuristic: httpcache.Heuristic{Fraction: float64(c.Cache.HeuristicPercent) / 100, Most: c.Cache.HeuristicMax},
		MaxObject: int64(c.Cache.MaxResponse), MaxArriving: int64(c.Cache.Responses / 4), StaleFor: c.Cache.StaleFor,
		Harmless: c.Cache.HarmlessFields, CollapseTimeout: c.Cache.CollapseTimeout, CollapseLimit: c.Cache.CollapseLimit,
		Same: sameOrigin, Panicked: d.panicked,
	}
	for _, name := range c.Proxy.Targeted {
		settings.Targeted = append(settings.Targeted, http.CanonicalHeaderKey(name))
	}
	if c.Cache.Responses == 0 {
		made := responses{Cache: httpcache.New(settings)}
		return made, made.Close, nil
	}
	store, err := memory.New(memory.Config[*httpcache.Entry]{MaxBytes: int64(c.Cache.Responses), Usual: usualResponse, Size: (*httpcache.Entry).Size})
	if err != nil {
		return responses{}, nil, err
	}
	settings.Store = store
	made := responses{httpcache.New(settings), store}
	return made, func() { made.Close(); store.Close() }, nil
}

// usualResponse is the memory of a usual response in bytes: most have a body of some KiB, and all a head.
const usualResponse = 4 << 10

// sameOrigin returns the canonical form of a URI reference in a response to a request for base, and
// whether it is of the same origin: RFC 9110 section 4.3.1.
func sameOrigin(base, reference string) (string, bool) {
	from, err := uri.Parse(base)
	if err != nil {
		return "", false
	}
	relative, err := uri.ParseRawReference(reference)
	if err != nil {
		return "", false
	}
	target, err := from.Resolve(relative, uri.RFC3986)
	if err != nil {
		return "", false
	}
	target = target.WithoutFragment().Normalize()
	a, _ := from.Authority()
	b, _ := target.Authority()
	return target.String(), from.Scheme() == target.Scheme() && a == b
}

// metrics implements observed.
func (r responses) metrics() metrics.Cache {
	counts := r.Counts()
	m := metrics.Cache{Name: "responses", Lookups: map[string]uint64{
		"hit": counts.Hits, "stale": counts.Stale, "revalidated": counts.Validated, "miss": counts.Misses,
		"collapsed": counts.Collapsed, "failure": counts.Failures,
	}}
	if r.store != nil {
		held := r.store.Stats()
		m.Evictions, m.Entries, m.Bytes = held.Evictions, held.Entries, held.Bytes
	}
	return m
}
