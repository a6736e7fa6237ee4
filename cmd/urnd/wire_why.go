package main

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/admin/stored"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// explainer returns the function that explains to administrators how requests are served, with the names of
// settings.
func explainer(c config.Proxy, handler *proxy.Handler) stored.Explain {
	routes := c.SiteRoutes()
	return func(ctx context.Context, u uri.URI, fields httpmessage.Fields, send bool) (stored.Explanation, error) {
		why, err := handler.Explain(ctx, u, fields, send)
		if err != nil {
			return stored.Explanation{}, err
		}
		e := stored.Explanation{
			Key: why.Key.String(), Spelling: why.Spelling, Cache: why.Cache,
			Advice: cacheAdvice(why.Site != nil),
		}
		if why.Site != nil {
			r := routes[why.Site.Index]
			e.Site = &api.ExplainedSite{
				Setting: config.SiteSetting(r.Index), Host: r.Host, Path: r.Path,
				Rules: cacheRules(r.Cache),
			}
			e.CacheSetting = config.SiteSetting(r.From.Cache) + ".cache"
		}
		if why.Reply != nil {
			e.Own, e.Status, e.Location = true, why.Reply.Status, why.Reply.Location
		}
		if why.Sent != nil {
			e.Sent = &stored.Sent{Status: why.Sent.Status, Outcome: why.Sent.Outcome}
		}
		return e, nil
	}
}

// cacheRules returns rules as texts, never nil.
func cacheRules(all []config.SiteCache) []string {
	texts := make([]string, 0, len(all))
	for _, c := range all {
		var parts []string
		add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
		if len(c.Types) > 0 {
			add("types %s", strings.Join(c.Types, " "))
		}
		if len(c.Statuses) > 0 {
			add("statuses %s", strings.Trim(fmt.Sprint(c.Statuses), "[]"))
		}
		if c.NoStore {
			add("no_store")
		}
		if c.MinTTL > 0 {
			add("min_ttl %s", c.MinTTL)
		}
		if c.MaxTTL > 0 {
			add("max_ttl %s", c.MaxTTL)
		}
		if c.StaleFor > 0 {
			add("stale_for %s", c.StaleFor)
		}
		texts = append(texts, strings.Join(parts, ", "))
	}
	return texts
}

// siteURLs returns the URLs that the servers of a site are requested by, or the target of a redirect by urnd
// itself.
func siteURLs(r config.SiteRoute, a *route.Request) (urls []string, err error) {
	if r.Answer.Location != "" {
		template, err := uri.ParseTemplate(r.Answer.Location)
		if err != nil {
			return nil, fmt.Errorf("%s.answer.location: %w", config.SiteSetting(r.Index), err)
		}
		return []string{(&proxy.FixedResponse{Location: &template}).RedirectLocation(a)}, nil
	}
	site := forward.Site{Path: r.Path, Replace: r.Replace}
	for _, server := range poolConfig(r).Servers {
		urls = append(urls, site.URL(server.URL, a.OutgoingURI(), a.Spelling))
	}
	return urls, nil
}

// cacheAdvice returns the settings that change how a request is served, by the code of the reason: that of
// package httpcache/rules why a response is not stored, or that of package stored why a stored one is not
// used.
func cacheAdvice(isSite bool) map[string]string {
	all := map[string]string{
		"bypass":    "cache.responses turns the cache on, such as 128MiB",
		"size":      "cache.max_response is the maximum size of a stored body",
		"unkeyed":   "if the field does not influence the response, list it in cache.unkeyed_fields",
		"vary-miss": "--header sets the fields of the request",
	}
	if !isSite {
		return all
	}
	const (
		least = "if it is the same for all clients, write a rule in proxy.sites[].cache with min_ttl, such as " +
			"min_ttl: 1m"
		control = "to store it anyway, write response_remove: [Cache-Control] in proxy.sites[], and a rule in cache " +
			"with min_ttl"
	)
	maps.Copy(all, map[string]string{
		"no-cache": "to use it without revalidation, write a rule in proxy.sites[].cache with min_ttl, such as " +
			"min_ttl: 1m",
		"stale": "to use it longer, write a rule in proxy.sites[].cache with min_ttl, or with stale_for, to use it " +
			"while it is revalidated",
		"freshness": least,
		"status": "write a rule in proxy.sites[].cache with the status in statuses, and min_ttl, such as " +
			"min_ttl: 10s",
		"cookie": least + "; or request_remove: [Cookie], if its servers need no cookies for this path",
		"set-cookie": "if the cookie is not needed, write response_remove: [Set-Cookie] in proxy.sites[]; rules of " +
			"cache do not store responses with it",
		"no-store": control,
		"private":  control,
		"vary":     "if it depends on none of these fields, write response_remove: [Vary] in proxy.sites[]",
		"unkeyed": "if the field does not influence the response, list it in cache.unkeyed_fields, or in " +
			"request_remove of proxy.sites[]",
		"override": "a rule of proxy.sites[].cache has no_store: true; the first matching rule decides",
		"authorization": "if it is the same for all clients, let the server send Cache-Control: public: rules of " +
			"proxy.sites[].cache do not store it",
	})
	return all
}
