package forward

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Content is the content of a stored response. It must be closed.
type Content = httpcache.Content

// Found is the result of Find: a stored response that answers a request without a validation.
type Found = httpcache.Found

// Find returns the stored response with which Serve would answer a request, like httpcache.Cache.Find. key is
// the canonical target URI, spelling that of Request.Spelling, and site the site of the URI, nil for none. If
// Find returns false, the Found is passed to Serve. The request must come from a client of the proxy or of a
// site, not from /fetch, and have no Connection field and no unkeyed one. Find also returns false for
// responses that Serve selects by fields other than those of the request, such as resources of other
// protocols, and by those that identify clients to origins; and for challenges, which Serve changes.
func (p *Proxy) Find(key, spelling string, site *Site, request httpmessage.Header, now time.Time) (Found, bool) {
	if !isWebKey(key) {
		return Found{}, false
	}
	f, ok := p.config.Cache.Find(key, spelling, request, now)
	if !ok || f.Status() == http.StatusUnauthorized {
		return f, false
	}
	forwarded := p.forwarded(site)
	named := f.SelectedBy(func(name string) bool {
		if (name == "Forwarded" || name == "X-Forwarded-For") && forwarded != ForwardedTransparent {
			return true
		}
		return fromProxy(name) && len(request(name)) > 0
	})
	return f, !named
}

// isWebKey reports whether a key has the scheme http or https.
func isWebKey(key string) bool {
	return strings.HasPrefix(key, "http://") || strings.HasPrefix(key, "https://")
}

// Part is the part of a stored content that answers a range request.
type Part = httpcache.Part

// AppendStored appends the fields of the response for a stored response: the same as Serve sends. unmodified is
// whether it is 304; a Part with status 0 is the whole content. The values are valid as long as those of text.
func (p *Proxy) AppendStored(
	fields httpmessage.Fields, f Found, part Part, unmodified bool, text *httpmessage.ValueBuffer,
) httpmessage.Fields {
	before := len(fields)
	fields = f.AppendFields(fields, part, unmodified)
	fields = append(fields[:before], slices.DeleteFunc(fields[before:], isReplaced)...)
	if part.Status != http.StatusRequestedRangeNotSatisfiable {
		fields = append(fields, httpmessage.Field{Name: "Age", Value: text.Int(int64(f.Age() / time.Second))})
	}
	if part.Status != 0 {
		start, value := text.Begin()
		fields = append(fields, httpmessage.Field{
			Name:  "Content-Range",
			Value: text.End(start, f.AppendContentRange(value, part)),
		})
	}
	outcome := httpcache.Outcome{HasTTL: true, TTL: f.TTL()}
	start, value := text.Begin()
	status := text.End(start, outcome.AppendStatus(value, "urnd"))
	fields = append(fields, httpmessage.Field{Name: "Via", Value: p.via},
		httpmessage.Field{Name: "Cache-Status", Value: status})
	switch {
	case unmodified:
	case part.Status != 0:
		fields = append(fields, httpmessage.Field{Name: "Content-Length", Value: text.Int(part.Length())})
	default:
		fields = append(fields, httpmessage.Field{Name: "Content-Length", Value: text.Int(f.Length())})
	}
	return fields
}

// isReplaced reports whether AppendStored sets its own value of a field.
func isReplaced(f httpmessage.Field) bool { return f.HasName("Content-Length") || f.HasName("Age") }
