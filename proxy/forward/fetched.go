package forward

import (
	"net/http"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/uri"
)

// DocumentPolicy is the Content-Security-Policy of the documents that urnd makes of listings: they show
// text, and ask this server. resourcePolicy is that of what comes from others, which must not act as a
// page of this server.
const (
	DocumentPolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	resourcePolicy = "sandbox"
)

// asked are the fields of a client that a request for a fetched resource, or one by another protocol than
// HTTP, may have: the others are for this server, or for origins that know HTTP.
var asked = [...]string{
	"Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Pragma", "Range", "If-Range", "If-None-Match", "If-Modified-Since",
	"If-Match", "If-Unmodified-Since", "User-Agent",
}

// askedOf returns the fields of a request that is fetched, or sent by another protocol.
func (p *Proxy) askedOf(r *Request) http.Header {
	header := make(http.Header, len(asked))
	for _, name := range asked {
		if lines := r.Header[name]; len(lines) > 0 {
			header[name] = lines
		}
	}
	if r.isWeb() {
		return header
	}
	header["Accept"] = []string{p.config.Accept(r.Header, r.Fetched)}
	// A password for the server, and not for this one.
	if lines := r.Header["Authorization"]; len(lines) > 0 && !r.Fetched {
		header["Authorization"] = lines
	}
	return header
}

// shown are the fields of a response that are passed on with a fetched resource.
var shown = [...]string{
	"Accept-Ranges", "Age", "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Range", "Content-Type",
	"Date", "Etag", "Expires", "Last-Modified", "Proxy-Status", "Retry-After", "Vary",
}

// showFetched leaves only those fields of a response that mean the same as fields of this server.
func showFetched(header http.Header, r *Request) {
	before := header.Clone()
	clear(header)
	for _, name := range shown {
		if lines := before[name]; len(lines) > 0 {
			header[name] = lines
		}
	}
	if location := before.Get("Location"); location != "" {
		if target := resolved(r.Target, location); target != "" {
			header["Location"] = []string{message.Fetched(target)}
		}
	}
	header["X-Content-Type-Options"] = []string{"nosniff"}
	header["Referrer-Policy"] = []string{"no-referrer"}
	header["Content-Security-Policy"] = []string{resourcePolicy}
	if policy := before["Content-Security-Policy"]; !r.isWeb() && len(policy) > 0 { // urnd made the response
		header["Content-Security-Policy"] = policy
	}
	header["Content-Location"] = []string{r.Target.WithoutPassword().String()}
}

// resolved returns the absolute form of a reference, "" where it is not valid.
func resolved(base uri.URI, reference string) string {
	u, err := uri.ParseReference(reference)
	if err == nil {
		u, err = base.Resolve(u, uri.RFC3986)
	}
	if err != nil {
		return ""
	}
	return u.String()
}
