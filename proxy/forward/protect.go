package forward

import (
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// DocumentPolicy is the Content-Security-Policy of documents that urnd renders from listings, except pages,
// which have their own policy: they show text, and link to this server. resourcePolicy is the one of foreign
// resources, which must not act as pages of this server: no scripts, and no subresources, since those from
// this server would have the resource as their Referer.
const (
	DocumentPolicy = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	resourcePolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors "
)

// renderedPolicy returns the Content-Security-Policy of a document that urnd has rendered, "" if the content is
// the resource itself. Only the latter has Content-Location (RFC 9110 section 8.7), which Lynx uses as the
// base of links; links of urnd's documents refer to this server.
func renderedPolicy(at uri.URI, fields httpmessage.Fields) string {
	if at.IsWeb() {
		return ""
	}
	return fields.Get("Content-Security-Policy")
}

// protect sets the fields of all retrieved content, at /fetch and as the resource of a name: it cannot act as
// a page of this server, nor be embedded by pages of other sites, except those of embedder, "" for none. made
// is the policy of a document that urnd has rendered, "" for foreign content.
func protect(fields *httpmessage.Fields, made, embedder string) {
	fields.Set("X-Content-Type-Options", "nosniff")
	fields.Set("Referrer-Policy", "no-referrer")
	fields.Set("Cross-Origin-Resource-Policy", "same-origin") // Fetch standard section 3.7
	fields.Set("Content-Security-Policy", resourcePolicy+"'none'")
	if embedder != "" {
		fields.Set("Cross-Origin-Resource-Policy", "cross-origin")
		fields.Set("Content-Security-Policy", resourcePolicy+embedder)
		fields.Add("Vary", "Origin, Referer")
	}
	if made != "" {
		fields.Set("Content-Security-Policy", made)
		fields.Set("Referrer-Policy", "same-origin") // so that following its links is recognized as same-origin
	}
}
