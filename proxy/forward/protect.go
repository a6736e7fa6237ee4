package forward

import (
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// DocumentPolicy is the Content-Security-Policy of the documents that urnd makes of listings, and that are no pages, which have one
// of their own: they show text, and ask this server. resourcePolicy is that of what comes from others, which must not act as a
// page of this server: it has no scripts, and loads nothing, since what it loads from here would have it as its Referer.
const (
	DocumentPolicy = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	resourcePolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors "
)

// madePolicy returns the Content-Security-Policy of a document that urnd made of what is at a location, "" where the octets are
// the resource itself. Only that has Content-Location (RFC 9110 section 8.7), which Lynx takes for the base of links: those of
// documents of urnd lead to this server.
func madePolicy(at uri.URI, fields httpmessage.Fields) string {
	if at.IsWeb() {
		return ""
	}
	return fields.Value("Content-Security-Policy")
}

// protect sets the fields that all that is retrieved has, at /fetch and as the resource of a name: it does not act as a page of
// this server, and pages of others do not load it, but those of an embedder, "" for none. made is the policy of a document that
// urnd made itself, "" for what comes from others.
func protect(fields *httpmessage.Fields, made, embedder string) {
	fields.Set("X-Content-Type-Options", "nosniff")
	fields.Set("Referrer-Policy", "no-referrer")
	fields.Set("Cross-Origin-Resource-Policy", "same-origin") // the Fetch standard section 3.7
	fields.Set("Content-Security-Policy", resourcePolicy+"'none'")
	if embedder != "" {
		fields.Set("Cross-Origin-Resource-Policy", "cross-origin")
		fields.Set("Content-Security-Policy", resourcePolicy+embedder)
		fields.Add("Vary", "Origin, Referer")
	}
	if made != "" {
		fields.Set("Content-Security-Policy", made)
		fields.Set("Referrer-Policy", "same-origin") // a link of it is known by that as one of this server
	}
}
