// Package stored shows the stored responses of the HTTP cache to administrators, and purges them.
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

// New returns the responses of a cache, which are purged by purges. refresh fetches those for a URI once more, and explain explains what
// becomes of a request.
func New(cache *httpcache.Cache, purges *Purges, refresh func(ctx context.Context, key uri.URI) (int, error), explain Explain) Responses {
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

// shownField returns the value of a field of requests for administrators, nil where it must be missing:
// not the credentials of clients.
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
