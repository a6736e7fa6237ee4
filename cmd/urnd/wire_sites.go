package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// siteRoutes returns the sites that urnd is a gateway for, by which request targets are classified, in the
// order of config.Proxy.SiteRoutes.
func siteRoutes(c config.Proxy) (routes []route.Site) {
	for _, r := range c.SiteRoutes() {
		routes = append(routes, route.Site{
			Host: r.Host, Path: r.Path, Spelling: spellings()[r.Spelling],
			Parameters: route.Parameters{Ignored: r.IgnoreParameters, Sorted: r.SortParameters},
		})
	}
	return routes
}

// wireSites returns the sites that urnd is a gateway for, and the failures of their servers, which are those
// of the previous configuration.
func wireSites(s *service, c config.Config, r *resolution, d dependencies) ([]proxy.Site, *forward.Failures, error) {
	failures, err := shared.Reuse(&r.shared, d.previous.reusable(), "failures", nil,
		func() (*forward.Failures, func(), error) {
			return forward.NewFailures(d.now), func() {}, nil
		})
	if err != nil {
		return nil, nil, err
	}
	routes := siteRoutes(c.Proxy)
	sites := make([]proxy.Site, 0, len(routes))
	pools := make(map[string]*balance.Pool)
	for i, settings := range c.Proxy.SiteRoutes() {
		w := siteWiring{
			service: s, config: c, resolution: r, failures: failures, dependencies: d, pools: pools,
			path: config.SiteSetting(settings.Index),
		}
		site, err := w.site(settings)
		if err != nil {
			return nil, nil, err
		}
		site.Route = routes[i]
		sites = append(sites, site)
	}
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		s.pools = append(s.pools, pools[name])
	}
	return sites, failures, nil
}

// siteServers returns the state of the servers of sites, each once: a server of several sites is up if one of
// them reports it so.
func (s *service) siteServers() []metrics.Server {
	var all []balance.ServerStatus
	for _, pool := range s.pools {
		all = append(all, pool.Status()...)
	}
	return serversOf(all)
}

// serversOf returns the state of servers, with one element for each URL.
func serversOf(known []balance.ServerStatus) (all []metrics.Server) {
	at := make(map[string]int)
	for _, server := range known {
		i, ok := at[server.URL]
		if !ok {
			i = len(all)
			at[server.URL] = i
			all = append(all, metrics.Server{Name: server.URL})
		}
		all[i].Up = all[i].Up || server.State == balance.Up || server.State == balance.Starting
		all[i].Outstanding += server.Outstanding
		all[i].Requests += server.Requests
		all[i].Failures += server.Failures
	}
	return all
}

// siteWiring are the dependencies of a site.
type siteWiring struct {
	service      *service
	config       config.Config
	resolution   *resolution
	failures     *forward.Failures
	dependencies dependencies
	pools        map[string]*balance.Pool // of all sites, by a hash of their settings
	path         string                   // of its settings
}

func (w siteWiring) site(c config.SiteRoute) (site proxy.Site, err error) {
	site.Access.Clients = c.Clients
	if site.Access.Users, err = w.users(c.Users); err != nil {
		return site, err
	}
	if c.Answer != (config.SiteAnswer{}) {
		site.FixedResponse, err = w.answer(c.Answer)
		return site, err
	}
	site.Replace = c.Replace
	site.Cache = overridesOf(c.Cache)
	site.Request, site.Host = edits(c.RequestRemove, c.RequestSet)
	if site.Access.Users != nil { // the credentials are for urnd, not for the origin
		site.Request.Remove = append(slices.Clone(site.Request.Remove), "Authorization")
	}
	site.Response, _ = edits(c.ResponseRemove, c.ResponseSet)
	switch c.Forwarded {
	case "":
		site.Forwarded = forwardings()[w.config.Proxy.Forwarded]
	case "off":
		site.Forwarded = forward.ForwardedNothing
	default:
		site.Forwarded = forwardings()[c.Forwarded]
	}
	if site.TLS, err = secret.ServerTLS(w.path+".tls", c.TLS); err != nil {
		return site, err
	}
	if site.Fetch, err = w.client(c); err != nil {
		return site, err
	}
	site.Pool, err = w.pool(c, site)
	return site, err
}

// users returns the users of a password file, nil for none. Those of the previous configuration are reused if
// the file is unchanged, with their cache of correct passwords.
func (w siteWiring) users(file string) (gate.Logins, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // no login is required
	}
	users, err := usersOf(w.path+".users", file, w.resolution, w.dependencies)
	if err != nil {
		return nil, err
	}
	return users, nil
}

// maxSiteAnswer limits the file of an answer, in bytes.
const maxSiteAnswer = 1 << 20

func (w siteWiring) answer(c config.SiteAnswer) (*proxy.FixedResponse, error) {
	a := &proxy.FixedResponse{Status: c.Status, Type: c.Type}
	if c.Body != "" {
		a.Body = []byte(c.Body)
	}
	if c.File != "" {
		text, err := secret.Read(w.path+".answer.file", c.File)
		if err != nil {
			return nil, err
		}
		if len(text) > maxSiteAnswer {
			return nil, fmt.Errorf("%s.answer.file: larger than %d bytes", w.path, maxSiteAnswer)
		}
		a.Body = text
	}
	if c.Location != "" {
		location, err := uri.ParseTemplate(c.Location)
		if err != nil {
			return nil, fmt.Errorf("%s.answer.location: %w", w.path, err)
		}
		a.Location = &location
	}
	return a, nil
}

// client returns the client for a site with timeouts of its own, nil for the common one.
func (w siteWiring) client(c config.SiteRoute) (scheme.Handler, error) {
	if c.ConnectTimeout == 0 && c.Timeout == 0 {
		return nil, nil //nolint:nilnil // the common client is used, which is no error
	}
	limits := w.config
	if c.ConnectTimeout > 0 {
		limits.Limits.ConnectTimeout = c.ConnectTimeout
	}
	if c.Timeout > 0 {
		limits.Limits.OriginTimeout = c.Timeout
	}
	web, err := newOriginClient(limits, w.service, w.resolution, w.dependencies)
	if err != nil {
		return nil, err
	}
	w.service.closers = append(w.service.closers, web.Close)
	return observed(web, w.dependencies), nil
}

// pool returns the server pool of a site, which sites with the same settings share. That of the previous
// configuration is reused with its state.
func (w siteWiring) pool(c config.SiteRoute, site proxy.Site) (*balance.Pool, error) {
	name := fmt.Sprintf("servers %x", sha256.Sum256(fmt.Appendf(nil, "%q %+v %+v %q", []any{
		c.Servers, c.Weights, c.Drain, c.Balance, c.Check, c.TLS, c.RequestSet, c.RequestRemove,
		w.config.Access.AllowDestinations, w.config.Proxy.Upstreams,
	}, w.config.Limits, c.Hosts[0], contents(c.TLS))))
	place := fmt.Sprintf("%q %q", c.Hosts[0], c.Path)
	if pool := w.pools[name]; pool != nil {
		w.service.placed[place] = pool
		return pool, nil
	}
	pool, err := shared.Reuse(&w.resolution.shared, w.dependencies.previous.reusable(), name, w.failures,
		func() (*balance.Pool, func(), error) {
			return w.newPool(c, w.dependencies.placed[place])
		})
	if err != nil {
		return nil, err
	}
	w.pools[name], w.service.placed[place] = pool, pool
	return pool, w.probe(pool, c, site)
}

// probe probes the servers of a pool over connections of this configuration, after it is started.
func (w siteWiring) probe(pool *balance.Pool, c config.SiteRoute, site proxy.Site) error {
	if c.Check.Interval == 0 {
		return nil
	}
	web, err := newOriginClient(w.config, w.service, w.resolution, w.dependencies)
	if err != nil {
		return err
	}
	w.service.closers = append(w.service.closers, web.Close)
	by := prober{web, site, strings.TrimPrefix(c.Hosts[0], "*.")}
	w.resolution.starters = append(w.resolution.starters, func() { pool.SetProbe(by.probe) })
	return nil
}

// contents returns the contents of the TLS files of servers: a change replaces the pool.
func contents(c config.ServerTLS) (all [3][]byte) {
	for i, file := range [...]string{c.CA, c.Certificate, c.Key} {
		if file != "" {
			all[i], _ = secret.Read("", file) // the TLS of the site reports the same error
		}
	}
	return all
}

// newPool returns the server pool of a site, and the function that stops its probes, which start with the
// configuration. before is that of the previous configuration, nil for none.
func (w siteWiring) newPool(c config.SiteRoute, before *balance.Pool) (*balance.Pool, func(), error) {
	settings := poolConfig(c)
	settings.Previous = before
	settings.Failing, settings.Now, settings.Log = w.failures.Failing, w.dependencies.now, w.dependencies.persistentLog
	pool := balance.New(settings)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	w.resolution.starters = append(w.resolution.starters, func() { running.Go(func() { pool.Run(ctx) }) })
	return pool, func() {
		cancel()
		running.Wait()
	}, nil
}

// poolConfig returns the configuration of the server pool of a site.
func poolConfig(c config.SiteRoute) balance.Config {
	methods := map[string]balance.Method{
		"": balance.RoundRobin, "round_robin": balance.RoundRobin,
		"least_requests": balance.LeastRequests, "hash": balance.Hash,
	}
	settings := balance.Config{
		Method: methods[c.Balance],
		HealthCheck: balance.HealthCheck{
			Path: c.Check.Path, Status: c.Check.Status, Interval: c.Check.Interval,
			SlowStart: c.Check.SlowStart,
		},
	}
	for i, server := range c.Servers {
		u, err := uri.Parse(server)
		if err != nil {
			continue // the configuration was validated
		}
		one := balance.Server{URL: u.Normalize(), Drained: slices.Contains(c.Drain, server)}
		if i < len(c.Weights) {
			one.Weight = c.Weights[i]
		}
		settings.Servers = append(settings.Servers, one)
	}
	return settings
}

// prober probes the servers of a site.
type prober struct {
	web  *schemehttp.Handler
	site proxy.Site
	host string // the value of Host, unless the site sets one
}

// maxProbed limits the bytes of the response to a probe that are read, so that the connection can be reused.
const maxProbed = 64 << 10

func (p prober) probe(ctx context.Context, server uri.URI, path string) (status int, err error) {
	requested, err := uri.Parse("http://" + p.host + path)
	if err != nil {
		return 0, fmt.Errorf("checking %s: %w", path, err)
	}
	r := p.site.Probe(server, requested)
	r.Method = http.MethodGet
	r.Fields.Set("User-Agent", "urnd")
	response, err := p.web.Fetch(ctx, r)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxProbed))
	return response.Status, errors.Join(err, response.Body.Close())
}

func overridesOf(all []config.SiteCache) (overrides []httpcache.Override) {
	for _, c := range all {
		overrides = append(overrides, httpcache.Override{
			Types: c.Types, Statuses: c.Statuses, NoStore: c.NoStore, MinLifetime: c.MinTTL, MaxLifetime: c.MaxTTL,
			WhileRevalidate: c.StaleFor,
		})
	}
	return overrides
}

// edits returns the changes of header fields, and the value of Host that they set.
func edits(remove, set []string) (e forward.Edits, host string) {
	e.Remove = remove
	for _, line := range set {
		name, value, _ := strings.Cut(line, ":")
		f := httpmessage.Field{Name: name, Value: strings.TrimSpace(value)}
		if f.HasName("Host") {
			host = f.Value
			continue
		}
		e.Set = append(e.Set, f)
	}
	return e, host
}
