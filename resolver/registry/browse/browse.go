// Package browse lists the names of the registry for readers: in pages, within bounds of time and of how many read at once, and without
// what only some may see.
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

// Config configures a Browser. All fields but Public must be set.
type Config struct {
	Registry *registry.Registry
	// Searches bounds the searches at a time, and those of a client, Lists the pages that need none, and Files the files of a sitemap that are
	// written. Further ones wait for at most MaxWait.
	Searches, Lists, Files quota.Limit
	MaxWait                time.Duration
	// Within bounds the time that a search takes, about; an index that it asks first is not interrupted before Most.
	Within, Most time.Duration
	// Public is the URL of this server for the pages of a sitemap, without a slash at its end.
	Public string
	// PageURL returns the URL of the page about a name at a base.
	PageURL func(base, name string) string
	Now     func() time.Time
	// Background runs what goes on when its request has ended, with a context that ends with what serves.
	Background func(func(context.Context))
}

// Browser lists names. It is safe for concurrent use.
type Browser struct {
	config Config
	counts counts
	parts  parts
}

// New returns a Browser. It starts nothing.
func New(config Config) *Browser { return &Browser{config: config} }

// Bounds of a page of names.
const (
	pageNames   = 50
	pageTargets = 3 // of each name
)

// Search returns a page of names. The error is resolver.ErrCursor where After is none, and resolver.ErrBusy where too many search.
func (b *Browser) Search(ctx context.Context, s resolver.NameSearch) (found resolver.FoundNames, err error) {
	search, err := b.searchOf(ctx, s)
	if err != nil {
		return found, err
	}
	limit := b.config.Lists
	if s.Words != "" || s.Host != "" || s.Tag != "" || s.Status != "" {
		limit = b.config.Searches
	}
	permit, err := b.acquire(ctx, limit, s.Client)
	if err != nil {
		return found, err
	}
	defer permit.Release()
	ctx, cancel := context.WithTimeout(ctx, b.config.Most)
	defer cancel()
	now := b.config.Now()
	done, err := b.config.Registry.Search(ctx, search, func(e registry.Entry) error {
		if len(found.Names) < pageNames {
			found.Names = append(found.Names, listed(&e, now))
		}
		return nil
	})
	switch {
	case errors.Is(err, title.ErrQuery): // no title has such words
		err = nil
	case err != nil:
	case done.Found > pageNames:
		found.Next, err = b.config.Registry.CursorOf(ctx, found.Names[pageNames-1].Name)
	case done.Late:
		found.IsLate = true
		found.Next, err = b.config.Registry.CursorOf(ctx, done.Last)
	}
	if err != nil {
		return resolver.FoundNames{}, unavailable(err)
	}
	return found, nil
}

// searchOf returns the search that a reader asks for.
func (b *Browser) searchOf(ctx context.Context, s resolver.NameSearch) (search registry.Search, err error) {
	search = registry.Search{
		Title: s.Words, Target: s.Host, Tag: s.Tag, Open: !s.All, Limit: pageNames + 1, Within: b.config.Within,
	}
	if search.After, err = b.config.Registry.AfterName(ctx, s.After); err != nil {
		if errors.Is(err, registry.ErrCursor) || errors.Is(err, registry.ErrHistory) {
			return search, resolver.ErrCursor
		}
		return search, unavailable(err)
	}
	if search.Below, err = b.config.Registry.Below(s.Prefix); err != nil { // no name begins so
		search.Below = s.Prefix
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

// acquire waits until a client may search.
func (b *Browser) acquire(ctx context.Context, l quota.Limit, client netip.Addr) (quota.Permit, error) {
	waiting, cancel := context.WithTimeout(ctx, b.config.MaxWait)
	defer cancel()
	return l.WithBusy(resolver.ErrBrowsing).Wait(waiting, client)
}

// unavailable returns the error of a store for readers, who are not told where it is.
func unavailable(err error) error {
	if errors.Is(err, registry.ErrNoStore) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w: %w", registry.ErrNoStore, err)
}

// listed returns what lists say of an entry at a time.
func listed(e *registry.Entry, at time.Time) resolver.ListedName {
	l := resolver.ListedName{
		Name: e.Name, Status: e.Status.String(), Alias: e.Alias, Metadata: e.Metadata, IsSandbox: e.Sandbox, Changed: e.Changed,
	}
	for i := range e.Targets {
		t := &e.Targets[i]
		if !t.ValidAt(at) {
			continue
		}
		if l.Title == "" {
			l.Title = t.Title
		}
		if len(l.Targets) < pageTargets && resolver.Leads(t.Rel) {
			l.Targets = append(l.Targets, t.URI)
		}
	}
	return l
}
