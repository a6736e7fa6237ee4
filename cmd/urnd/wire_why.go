package main

import (
	"context"
	"fmt"
	"strconv"
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

// explainer returns what explains to administrators what becomes of requests, by the names of settings.
func explainer(c config.Proxy, handler *proxy.Handler) stored.Explain {
	routes := c.SiteRoutes()
	return func(ctx context.Context, u uri.URI, fields httpmessage.Fields, send bool) (stored.Explained, error) {
		why, err := handler.Why(ctx, u, fields, send)
		if err != nil {
			return stored.Explained{}, err
		}
		e := stored.Explained{Key: why.Key.String(), Spelling: why.Spelling, Cache: why.Cache}
		if why.Site != nil {
			r := routes[why.Site.Index]
			e.Site = &api.WhySite{Setting: siteSetting(r.Index), Host: r.Host, Path: r.Path, Rules: cacheRules(r.Cache)}
			e.CacheSetting = siteSetting(r.From.Cache) + ".cache"
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

// siteSetting returns the name of an entry of proxy.sites.
func siteSetting(i int) string { return "proxy.sites." + strconv.Itoa(i) }

// cacheRules returns rules in words, never nil.
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
		if c.Never {
			add("never")
		}
		if c.Least > 0 {
			add("least %s", c.Least)
		}
		if c.Most > 0 {
			add("most %s", c.Most)
		}
		if c.Stale > 0 {
			add("stale %s", c.Stale)
		}
		texts = append(texts, strings.Join(parts, ", "))
	}
	return texts
}

// siteURLs returns what each server of a site gets for what is asked, or where urnd itself redirects to.
func siteURLs(r config.SiteRoute, a *route.Ask) (urls []string, err error) {
	if r.Answer.Location != "" {
		template, err := uri.ParseTemplate(r.Answer.Location)
		if err != nil {
			return nil, fmt.Errorf("%s.answer.location: %w", siteSetting(r.Index), err)
		}
		return []string{(&proxy.SiteAnswer{Location: &template}).Leads(a)}, nil
	}
	site := forward.Site{Path: r.Path, Replace: r.Replace}
	for _, server := range poolConfig(r).Servers {
		urls = append(urls, site.URL(server.URL, a.Sent(), a.Spelling))
	}
	return urls, nil
}
