// Package browse lists the names of a registry for readers: a search or the file name of a sitemap enters,
// and a page of public names, a count or an XML file leaves. Time and concurrency are limited, and restricted
// names are never disclosed. Sitemaps follow the protocol of sitemaps.org, version 0.9.
package browse

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/title"
)

// Config configures a Browser. All fields must be set.
type Config struct {
	Registry *registry.Registry
	// SearchLimit limits concurrent searches, in total and per client; ListLimit limits pages without search
	// terms, and FileLimit the sitemap files that are being written. Further requests wait for at most MaxWait.
	SearchLimit, ListLimit, FileLimit quota.Limit
	MaxWait                           time.Duration
	// Timeout is the approximate time limit of a search. A query of an index cannot be interrupted by it, only
	// by QueryTimeout.
	Timeout, QueryTimeout time.Duration
	// BaseURL is the URL of this server in sitemaps, without a trailing slash.
	BaseURL string
	// PageURL returns the URL of the page about a name, from the base URL.
	PageURL func(base, name string) string
	Now     func() time.Time
	// Background runs a function that outlives its request, with a context that ends with the server.
	Background func(func(context.Context))
}

// Browser lists names. It is safe for concurrent use.
type Browser struct {
	config Config
	counts counts
	parts  parts
}

// New returns a Browser. It starts no goroutine.
func New(config Config) *Browser { return &Browser{config: config} }

// Limits of a page of names.
const (
	pageNames   = 50
	pageTargets = 3 // of each name
)

// Search returns a page of names. The error is resolver.ErrCursor if After is invalid, and resolver.ErrBusy
// if too many searches run.
func (b *Browser) Search(ctx context.Context, s resolver.NameSearch) (found resolver.NamePage, err error) {
	search, err := b.searchOf(ctx, s)
	if err != nil {
		return found, err
	}
	limit := b.config.ListLimit
	if s.Words != "" || s.Host != "" || s.Tag != "" || s.Status != "" {
		limit = b.config.SearchLimit
	}
	permit, err := b.acquire(ctx, limit, s.Client)
	if err != nil {
		return found, err
	}
	defer permit.Release()
	ctx, cancel := context.WithTimeout(ctx, b.config.QueryTimeout)
	defer cancel()
	now := b.config.Now()
	done, err := b.config.Registry.Search(ctx, search, func(e registry.Entry) error {
		if len(found.Names) < pageNames {
			found.Names = append(found.Names, listed(&e, now))
		}
		return nil
	})
	switch {
	case errors.Is(err, title.ErrQuery): // no title matches such words
		err = nil
	case err != nil:
	case done.Found > pageNames:
		found.Next, err = b.config.Registry.CursorAtName(ctx, found.Names[pageNames-1].Name)
	case done.TimedOut:
		found.TimedOut = true
		found.Next, err = b.config.Registry.CursorAtName(ctx, done.Last)
	}
	if err != nil {
		return resolver.NamePage{}, unavailable(err)
	}
	return found, nil
}

// searchOf converts a reader's search to one of the registry.
func (b *Browser) searchOf(ctx context.Context, s resolver.NameSearch) (search registry.Search, err error) {
	search = registry.Search{
		Title: s.Words, Target: s.Host, Tag: s.Tag, PublicOnly: !s.All, Limit: pageNames + 1, Timeout: b.config.Timeout,
	}
	if search.After, err = b.config.Registry.CursorName(ctx, s.After); err != nil {
		if errors.Is(err, registry.ErrInvalidCursor) || errors.Is(err, registry.ErrForeignCursor) {
			return search, resolver.ErrCursor
		}
		return search, unavailable(err)
	}
	if search.Prefix, err = b.config.Registry.SearchPrefix(s.Prefix); err != nil { // not a prefix of names
		search.Prefix = s.Prefix
	}
	if s.Status != "" {
		var status registry.Status
		if err := status.UnmarshalText([]byte(s.Status)); err != nil {
			return search, err
		}
		search.Statuses = []registry.Status{status}
	}
	return search, nil
}

// acquire waits for a permit of a client.
func (b *Browser) acquire(ctx context.Context, l quota.Limit, client netip.Addr) (quota.Permit, error) {
	waiting, cancel := context.WithTimeout(ctx, b.config.MaxWait)
	defer cancel()
	return l.WithBusy(resolver.ErrSearchLimit).Wait(waiting, client)
}

// unavailable wraps an error as registry.ErrUnavailable, so that readers learn no details of the store.
func unavailable(err error) error {
	if errors.Is(err, registry.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w: %w", registry.ErrUnavailable, err)
}

// listed returns the public data of an entry for lists, as of a time.
func listed(e *registry.Entry, at time.Time) resolver.NameSummary {
	l := resolver.NameSummary{
		Name: e.Name, Status: e.Status.String(), Alias: e.Alias, Metadata: e.Metadata, Sandbox: e.Sandbox,
		Changed: e.Changed,
	}
	for i := range e.Targets {
		t := &e.Targets[i]
		if !t.ValidAt(at) {
			continue
		}
		if l.Title == "" {
			l.Title = t.Title
		}
		if len(l.Targets) < pageTargets && resolver.RelationResolves(t.Rel) {
			l.Targets = append(l.Targets, t.URI)
		}
	}
	return l
}
