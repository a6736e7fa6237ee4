package forward

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Content is the content of a stored response that is to be sent. It must be closed.
type Content = httpcache.Content

// Found is what Find has found: a stored response that answers a request as it is.
type Found = httpcache.Found

// Find returns the stored response that Serve would answer a request with, as httpcache.Cache.Find does, by its
// key, the canonical URI of its target, and Request.Spelling, for what is set for a site, nil for none. Else Serve is given
// what was found. The request is from a client of the proxy or of a site, not fetched, and
// has no field Connection and none that unkeyed names. False is also for what Serve selects by other
// fields than those of the request: resources of other protocols, and how clients are named to origins; and for
// challenges, which Serve changes.
func (p *Proxy) Find(key, spelling string, site *Site, request httpmessage.Lines, now time.Time) (Found, bool) {
	if !isOfWeb(key) {
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

// isOfWeb reports whether a key is of a resource of HTTP.
func isOfWeb(key string) bool {
	return strings.HasPrefix(key, "http://") || strings.HasPrefix(key, "https://")
}

// Part is what the answer to a request has of the content of a stored response.
type Part = httpcache.Part

// AppendStored appends the fields of the response to a request that a stored response answers: those that Serve sets. unmodified is
// whether it is 304; a Part with a status of 0 is all. Their values are valid as long as those of text.
func (p *Proxy) AppendStored(fields httpmessage.Fields, f Found, part Part, unmodified bool, text *httpmessage.Text) httpmessage.Fields {
	before := len(fields)
	fields = f.AppendFields(fields, part, unmodified)
	fields = append(fields[:before], slices.DeleteFunc(fields[before:], isReplaced)...)
	if part.Status != http.StatusRequestedRangeNotSatisfiable {
		fields = append(fields, httpmessage.Field{Name: "Age", Value: text.Int(int64(f.Age() / time.Second))})
	}
	if part.Status != 0 {
		start, value := text.Begin()
		fields = append(fields, httpmessage.Field{Name: "Content-Range", Value: text.End(start, f.AppendContentRange(value, part))})
	}
	outcome := httpcache.Outcome{HasTTL: true, TTL: f.TTL()}
	start, value := text.Begin()
	status := text.End(start, outcome.AppendStatus(value, "urnd"))
	fields = append(fields, httpmessage.Field{Name: "Via", Value: p.via}, httpmessage.Field{Name: "Cache-Status", Value: status})
	switch {
	case unmodified:
	case part.Status != 0:
		fields = append(fields, httpmessage.Field{Name: "Content-Length", Value: text.Int(part.Length())})
	default:
		fields = append(fields, httpmessage.Field{Name: "Content-Length", Value: text.Int(f.Length())})
	}
	return fields
}

// isReplaced reports whether the answer that a stored response is has a value of its own of a field.
func isReplaced(f httpmessage.Field) bool { return f.Is("Content-Length") || f.Is("Age") }
