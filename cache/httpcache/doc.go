// Package httpcache is a shared HTTP cache (RFC 9111), with the extensions of RFC 5861 (stale-while-revalidate,
// stale-if-error), RFC 8246 (immutable), RFC 9213 (targeted Cache-Control) and RFC 9211 (Cache-Status).
//
// A client request and an Origin to forward it to enter Cache.Serve; a Response leaves, with its content as a
// stream and its Outcome. Package rules decides what may be stored and reused, package body streams bodies, and
// responses are stored by URI in a cache.Store and a disk.Store. Concurrent requests that probably get the same
// response wait for one exchange with the origin (collapse.go): they share its response, but not its errors,
// its delay or its pace.
package httpcache

import (
	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Types of the packages below that callers need.
type (
	// Content is the body of one response on its way to a client.
	Content = body.Content
	// Buffered is a body that reports how many bytes can be read without waiting.
	Buffered = body.Buffered
	// Heuristic computes a freshness lifetime for responses without an explicit one.
	Heuristic = rules.Heuristic
	// Override is what an administrator sets for the responses of a site.
	Override = rules.Override
	// NotStored is the reason why a response is not stored; the zero value is none.
	NotStored = rules.Reason
	// Source is the field or directive that a freshness lifetime was taken from.
	Source = rules.Source
)

// Live returns the content of a response that bypasses the cache.
func Live(response *httpmessage.Response) Content { return body.Live(response) }

// EndToEnd returns a copy of fields without the hop-by-hop fields. The caller may change it.
func EndToEnd(fields httpmessage.Fields) httpmessage.Fields { return rules.EndToEnd(fields) }

// AppendEndToEnd is EndToEnd that appends the copy to "to", which may share the memory of fields.
func AppendEndToEnd(to, fields httpmessage.Fields) httpmessage.Fields {
	return rules.AppendEndToEnd(to, fields)
}
