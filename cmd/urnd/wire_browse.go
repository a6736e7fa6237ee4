package main

import (
	"context"
	"net/netip"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry/browse"
)

// The bounds of a search for a reader, so that it is about as long as a page may take.
const (
	searchWithin  = 100 * time.Millisecond
	searchMost    = 2 * time.Second
	searchMaxWait = time.Second
)

// wireLists returns what lists the names of the registry, as far as a configuration shows them.
func wireLists(s *service, c config.Config, r *resolution, d dependencies) (lists answer.Lists) {
	isListed := len(c.Access.BrowseClients) > 0
	if r.registry == nil || !isListed && !c.Site.Sitemap {
		return lists
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	s.closers = append(s.closers, func() { cancel(); running.Wait() })
	b := browse.New(browse.Config{
		Registry: newRegistry(r.registry, r.names, d.now, nil), Searches: r.limits.searches, Lists: r.limits.lists, Files: r.limits.sitemaps,
		Within: searchWithin, Most: searchMost, MaxWait: searchMaxWait,
		Public: c.Listen.PublicURL, PageURL: answer.NamePageURL, Now: d.now,
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
	if isListed {
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

// knownBy returns what says what the registry has of names; nil where there is none.
func knownBy(r *resolution, d dependencies) func(context.Context, []string) ([]resolver.ListedName, error) {
	if r.registry == nil {
		return nil
	}
	names := newRegistry(r.registry, r.names, d.now, nil)
	return func(ctx context.Context, all []string) ([]resolver.ListedName, error) {
		return browse.Known(ctx, names, all, d.now())
	}
}

// browsesAll reports whether all who may resolve names may list those of the registry.
func browsesAll(c config.Access) bool {
	return len(c.ResolveClients) > 0 && !slices.ContainsFunc(c.ResolveClients, func(readers netip.Prefix) bool {
		return !slices.ContainsFunc(c.BrowseClients, func(p netip.Prefix) bool {
			return p.Bits() <= readers.Bits() && p.Contains(readers.Addr())
		})
	})
}
