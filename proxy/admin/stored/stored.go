// Package stored implements the operations of the admin API on both caches: it lists, explains, refreshes and
// purges stored HTTP responses and cached resolver answers. URIs, selections and purges of other processes
// enter; documents of package api and numbers of purged entries leave. The terms are those of RFC 9111 and
// RFC 9211.
package stored

import (
	"context"
	"net/http"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	adminapi "github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/uri"
)

// Responses implements api.Responses.
type Responses struct {
	cache   *httpcache.Cache
	purges  *Purges
	refresh func(ctx context.Context, key uri.URI) (int, error)
	explain Explain
}

// New returns the Responses of a cache, which purges purges. refresh fetches those of a URI again, and
// explain explains how a request is served.
func New(
	cache *httpcache.Cache, purges *Purges, refresh func(ctx context.Context, key uri.URI) (int, error),
	explain Explain,
) Responses {
	return Responses{cache, purges, refresh, explain}
}

// Lookup implements api.Responses.
func (r Responses) Lookup(key uri.URI) []api.Response {
	var all []api.Response
	for _, info := range r.cache.Lookup(key.String()) {
		all = append(all, responseDocument(info))
	}
	return all
}

// Purge implements api.Responses.
func (r Responses) Purge(ctx context.Context, s adminapi.ResponseSelection, hard bool) int {
	return r.purges.Purge(ctx, s, hard)
}

// Refresh implements api.Responses.
func (r Responses) Refresh(ctx context.Context, key uri.URI) (int, error) {
	return r.refresh(ctx, key)
}

func responseDocument(info httpcache.Info) api.Response {
	document := api.Response{
		Status: info.Status, Spelling: info.Spelling, Selecting: make(map[string]*string, len(info.Selecting)),
		Age: api.Seconds(info.Age), TTL: api.Seconds(info.TTL), Size: info.Size, ETag: info.ETag,
		Where: []string{}, Tags: append([]string{}, info.Tags...), Partial: info.Partial, Purged: info.Purged,
	}
	if !info.Modified.IsZero() {
		document.LastModified = info.Modified.UTC().Format(http.TimeFormat)
	}
	if info.InMemory {
		document.Where = append(document.Where, "memory")
	}
	if info.OnDisk {
		document.Where = append(document.Where, "disk")
	}
	for name, lines := range info.Selecting {
		document.Selecting[name] = shownField(name, lines)
	}
	return document
}

// shownField returns the value of a request field as administrators may see it, nil if the field must be
// missing. Credentials of clients are hidden.
func shownField(name string, lines []string) *string {
	if len(lines) == 0 {
		return nil
	}
	if httpmessage.UseOf(name)&httpmessage.Secret != 0 {
		hidden := "(not shown)"
		return &hidden
	}
	return &lines[0]
}
