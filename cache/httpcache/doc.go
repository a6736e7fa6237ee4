// Package httpcache is a shared HTTP cache: RFC 9111, with the extensions of RFC 5861 (stale-while-revalidate,
// stale-if-error), RFC 8246 (immutable), RFC 9213 (targeted Cache-Control) and RFC 9211 (Cache-Status).
//
// What may be stored and used is decided by package rules, and bodies are streamed by package body. Cache uses them,
// over a cache.Store of the responses of each URI. Requests for the same wait for one exchange with the origin
// (collapse.go), of which they share the response, and never an error, a delay or a pace.
package httpcache

import (
	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// What callers need of the packages below.
type (
	// Content is the body of one response on its way to a client.
	Content = body.Content
	// Buffered is a body of which it can be said how many bytes a read gives without waiting.
	Buffered = body.Buffered
	// Heuristic makes a freshness lifetime where an origin gives none.
	Heuristic = rules.Heuristic
	// Override is what an administrator sets for responses of a site.
	Override = rules.Override
	// NotStored is why a response is not stored; the zero value is none.
	NotStored = rules.Reason
	// Source is what a freshness lifetime was taken from.
	Source = rules.Source
)

// Live returns the content of a response that does not come through the cache.
func Live(response *httpmessage.Response) Content { return body.Live(response) }

// EndToEnd returns a copy of fields without those of the connection that they came by. It may be changed.
func EndToEnd(fields httpmessage.Fields) httpmessage.Fields { return rules.EndToEnd(fields) }

// AppendEndToEnd is EndToEnd that appends the copy to other fields, the memory of which may be that of fields itself.
func AppendEndToEnd(to, fields httpmessage.Fields) httpmessage.Fields {
	return rules.AppendEndToEnd(to, fields)
}
