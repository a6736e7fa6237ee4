package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry/browse"
	"github.com/urnd/urnd/urnns"
)

// pagesOf returns the design of the pages of a configuration.
func pagesOf(c config.Config) (*pages.Design, error) {
	s := c.Site
	site := pages.Site{
		Name: s.Name, Accent: s.Accent, Contact: s.Contact, Imprint: s.Imprint, Privacy: s.Privacy,
		Examples: s.Examples, Base: pathOf(c.Listen.PublicURL), Known: len(urnns.Builtin()), All: spaces(c),
		HasNameList: c.Registry.Store != "" && browsesAll(c.Access),
	}
	for i := range site.All {
		if site.All[i].HasRule {
			site.Namespaces = append(site.Namespaces, site.All[i].NID)
		}
	}
	site.Language, _ = pages.ParseLanguage(s.Language) // Validate has checked it
	for _, text := range s.Texts {
		if l, ok := pages.ParseLanguage(text.Language); ok {
			site.Texts[l] = pages.SiteText{Name: text.Name, Welcome: text.Welcome}
		}
	}
	if s.Logo != "" {
		logo, err := readLogo(s.Logo)
		if err != nil {
			return nil, fmt.Errorf("site.logo: %w", err)
		}
		site.Logo = logo
	}
	return pages.New(site), nil
}

// pathOf returns the path of the public URL, which a reverse proxy removes, without a trailing slash; "" for
// none.
func pathOf(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	path := strings.Trim(u.EscapedPath(), "/")
	if path == "" {
		return ""
	}
	return "/" + path
}

// readLogo reads the logo in a file, up to its size limit.
func readLogo(path string) (*pages.Logo, error) {
	// A device or pipe could be endless.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.Open(path) //nolint:gosec // the administrator names it
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, pages.MaxLogo+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	logo, err := pages.ParseLogo(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return logo, nil
}

// spaces returns the metadata of the namespaces for pages, built-in and configured ones, ordered by NID.
func spaces(c config.Config) []pages.Namespace {
	set, err := urnns.NewSet(namespaces(c.Namespaces)...)
	if err != nil {
		return nil // namesOf has reported it
	}
	builtin := make(map[string]urnns.Namespace)
	for _, ns := range urnns.Builtin() {
		builtin[ns.NID] = ns
	}
	orders := c.Orders(ruled())
	var all []pages.Namespace
	for _, nid := range set.NIDs() {
		ns, _ := set.Lookup(nid)
		shown := pages.Namespace{
			NID: nid, Title: ns.Title, Description: ns.Description, Source: ns.Source,
			Example: exampleOf(ns, c.Site.Examples), Pattern: ns.Pattern, Strip: ns.Strip, Fold: ns.Fold.String(),
			Check: ns.Check, Lenient: ns.Lenient, LenientDigits: ns.LenientDigits, HasRule: len(ns.Targets) > 0,
			Systems: systemsOf(c, orders, nid),
		}
		known, isBuiltin := builtin[nid]
		if !isBuiltin {
			shown.Source = ""
		}
		// The hosts of a configuration may be internal.
		if isBuiltin && slices.Equal(ns.Targets, known.Targets) {
			shown.Hosts = hostsOf(ns.Targets)
		}
		all = append(all, shown)
	}
	return all
}

// exampleOf returns an example of a namespace: the first one among those of the site, otherwise that of the
// namespace.
func exampleOf(ns urnns.Namespace, examples []string) string {
	prefix := "urn:" + ns.NID + ":"
	for _, example := range examples {
		if len(example) > len(prefix) && strings.EqualFold(example[:len(prefix)], prefix) {
			return example
		}
	}
	return ns.Example
}

// hostsOf returns the distinct hosts of targets, without those that depend on the name.
func hostsOf(targets []urnns.Target) []string {
	var hosts []string
	for _, target := range targets {
		_, rest, _ := strings.Cut(target.Template, "://")
		host, _, _ := strings.Cut(rest, "/")
		if host != "" && !strings.Contains(host, "{") && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// Time limits of a search, so that a page is rendered within the usual response time.
const (
	searchWithin  = 100 * time.Millisecond
	searchMost    = 2 * time.Second
	searchMaxWait = time.Second
)

// wireLists returns the functions that list names of the registry, as far as the configuration permits it.
func wireLists(s *service, c config.Config, r *resolution, d dependencies) (lists answer.Lists) {
	listed := len(c.Access.BrowseClients) > 0
	if r.registry == nil || !listed && !c.Site.Sitemap {
		return lists
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	s.closers = append(s.closers, func() { cancel(); running.Wait() })
	b := browse.New(browse.Config{
		Registry: newRegistry(r.registry, r.names, d.now, nil), SearchLimit: r.limits.searches,
		ListLimit: r.limits.lists, FileLimit: r.limits.sitemaps, Timeout: searchWithin, QueryTimeout: searchMost,
		MaxWait: searchMaxWait, BaseURL: c.Listen.PublicURL, PageURL: answer.NamePageURL, Now: d.now,
		Background: func(run func(context.Context)) {
			running.Go(func() {
				defer func() {
					if p := recover(); p != nil {
						d.panicked(p, debug.Stack())
					}
				}()
				run(ctx)
			})
		},
	})
	if listed {
		lists.Search = b.Search
	}
	if browsesAll(c.Access) {
		lists.Count = b.Count
	}
	if c.Site.Sitemap {
		lists.Index, lists.File = b.Index, b.File
	}
	return lists
}

// knownBy returns the function that reads the public data of names in the registry; nil without a registry.
func knownBy(r *resolution, d dependencies) func(context.Context, []string) ([]resolver.NameSummary, error) {
	if r.registry == nil {
		return nil
	}
	names := newRegistry(r.registry, r.names, d.now, nil)
	return func(ctx context.Context, all []string) ([]resolver.NameSummary, error) {
		return browse.Lookup(ctx, names, all, d.now())
	}
}

// browsesAll reports whether all clients that may resolve names may list those of the registry.
func browsesAll(c config.Access) bool {
	return len(c.ResolveClients) > 0 && !slices.ContainsFunc(c.ResolveClients, func(readers netip.Prefix) bool {
		return !slices.ContainsFunc(c.BrowseClients, func(p netip.Prefix) bool {
			return p.Bits() <= readers.Bits() && p.Contains(readers.Addr())
		})
	})
}
