package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// table is a resolver with a fixed table: it has every kind of answer that a cache may store. Names that are
// not in the table do not exist.
type table struct {
	mu        sync.Mutex
	requested map[string]int // the number of look-ups, by the keys of queries
}

// nameOf is the table.
func nameOf(name string, requested int) (resolver.Answer, error) {
	location := func(uri string, from resolver.Source) resolver.Location {
		return resolver.Location{URI: uri, From: &from}
	}
	one := func(ttl time.Duration, locations ...resolver.Location) (resolver.Answer, error) {
		return resolver.Answer{Locations: locations, TTL: ttl}, nil
	}
	plain := resolver.Source{Name: "test"}
	record := func(r resolver.Record) resolver.Source {
		r.Name, r.Version, r.Changed = name, 1, time.Unix(946684000, 0)
		return resolver.Source{Name: "registry", Record: &r}
	}
	negative := func(kind error, ttl time.Duration, r *resolver.Record) (resolver.Answer, error) {
		return resolver.Answer{}, &resolver.Negative{Kind: kind, Reason: "the table says so", TTL: ttl, Record: r}
	}
	if path, ok := strings.CutPrefix(name, "https://purl.example/"); ok {
		status, known := map[string]int{
			"one": 0, "moved": 301, "found": 302, "other": 303, "kept": 307, "lasting": 308,
			"%C3%A4": 301,
		}[path]
		if !known {
			return negative(resolver.ErrNotFound, time.Hour, nil)
		}
		return one(time.Hour, location("https://a.example/"+path,
			record(resolver.Record{Status: "active", Redirect: status})))
	}
	if path, ok := strings.CutPrefix(name, identifierRoot+"/01/09506000134352"); ok {
		return identifierOf(name, path)
	}
	switch strings.TrimPrefix(name, "urn:example:") {
	case "one", "urn:isbn:9780395363416", "urn:ietf:rfc:2648":
		return one(90*time.Second, location("https://a.example/"+name, plain))
	case "escaped":
		return one(time.Hour, location("https://a.example/?a=b&c='d'(e);f", plain))
	case "short":
		return one(time.Second, location("https://a.example/short", plain))
	case "once":
		return one(0, location("https://a.example/once", plain))
	case "forever":
		return one(resolver.Forever, location("https://a.example/forever", plain))
	case "two":
		return one(time.Hour, location("https://a.example/1", plain), location("https://b.example/2", plain))
	case "typed":
		return one(time.Hour, location("https://a.example/h", resolver.Source{Name: "test", Type: "text/html"}),
			location("https://a.example/p",
				resolver.Source{Name: "test", Type: "application/pdf"}))
	case "languages":
		return one(time.Hour, location("https://a.example/en",
			resolver.Source{Name: "test", Type: "text/html", Language: "en"}),
			location("https://a.example/de", resolver.Source{Name: "test", Type: "text/html", Language: "de"}))
	case "onetyped":
		return one(time.Hour, location("https://a.example/p",
			resolver.Source{Name: "test", Type: "application/pdf", Language: "en"}))
	case "record":
		return one(time.Hour, location("https://a.example/record",
			record(resolver.Record{Status: "active", Metadata: `{"title":"x"}`, Contact: "a@a.example"})))
	case "moved":
		return one(time.Hour, location("https://a.example/moved",
			record(resolver.Record{Status: "active", Redirect: 301})))
	case "lasting":
		return one(time.Hour, location("https://a.example/lasting", record(resolver.Record{
			Status: "active", Redirect: 308,
			ClientTTL: resolver.ClientTTL{Lifetime: time.Minute, Shared: 24 * time.Hour},
		})))
	case "sandbox":
		return one(time.Hour, location("https://a.example/sandbox",
			record(resolver.Record{Status: "active", Sandbox: true})))
	case "succeeded":
		return one(time.Hour, location("https://a.example/succeeded",
			record(resolver.Record{Status: "withdrawn", Successors: []string{"urn:example:one"}})))
	case "none":
		return negative(resolver.ErrNotFound, time.Hour, nil)
	case "nonebriefly":
		return negative(resolver.ErrNotFound, time.Second, nil)
	case "noneonce":
		return negative(resolver.ErrNotFound, 0, nil)
	case "reserved":
		return negative(resolver.ErrNotFound, time.Hour,
			&resolver.Record{Name: name, Status: "reserved", Contact: "a@a.example"})
	case "gone":
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrGone, Reason: "the table says so", TTL: time.Hour,
			ClientTTL: resolver.ClientTTL{Lifetime: time.Minute, Shared: 24 * time.Hour, Bounded: true},
		}
	case "withdrawn":
		return negative(resolver.ErrGone, time.Hour, &resolver.Record{
			Name: name, Status: "withdrawn", Reason: "a <b> & \"c\"", Since: time.Unix(9e8, 0),
			Successors: []string{"urn:example:one", "urn:example:two"},
		})
	case "service":
		return negative(resolver.ErrService, resolver.Forever, nil)
	case "fails":
		return resolver.Answer{}, fmt.Errorf("%w: on purpose", resolver.ErrUnreachable)
	case "stale": // the first look-up succeeds
		if requested > 1 {
			return resolver.Answer{}, fmt.Errorf("%w: on purpose", resolver.ErrUnreachable)
		}
		return one(time.Second, location("https://a.example/stale", plain))
	case "changing":
		return one(time.Second, location(fmt.Sprintf("https://a.example/%d", requested), plain))
	case "javascript":
		return one(time.Hour, location("javascript:alert(1)", plain))
	default:
		return negative(resolver.ErrUnsupported, resolver.Forever, nil)
	}
}

// Resolve implements resolver.Resolver.
func (n *table) Resolve(_ context.Context, q resolver.Query) (resolver.Answer, error) {
	key := q.Key()
	n.mu.Lock()
	n.requested[key]++
	requested := n.requested[key]
	n.mu.Unlock()
	answer, err := nameOf(q.URI.String(), requested)
	if err == nil && q.Service != resolver.I2L && q.Service != resolver.I2Ls {
		return resolver.Answer{},
			&resolver.Negative{Kind: resolver.ErrService, Reason: q.Service.String(), TTL: time.Hour}
	}
	return answer, err
}

// comeBody is a body that has arrived completely with its header.
type comeBody struct{ *strings.Reader }

// Close implements io.Closer.
func (comeBody) Close() error { return nil }

// Buffered implements httpcache.Buffered.
func (b comeBody) Buffered() int { return b.Len() }

// web is an origin server for all hosts: it has every kind of response that the HTTP cache stores, or does not.
type web struct{ now func() time.Time }

// Fetch implements scheme.Handler.
func (o web) Fetch(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	from := netip.MustParseAddrPort("192.0.2.80:80")
	if r.Check != nil {
		if err := r.Check(from); err != nil {
			return nil, err
		}
	}
	var sent int64
	if r.Body != nil {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", scheme.ErrRequestBody, err)
		}
		sent = n
	}
	const modified = "Fri, 31 Dec 1999 00:00:00 GMT"
	path := r.URI.Path()
	answer := func(status int, body string, fields ...string) (*scheme.Resource, error) {
		all := append(httpmessage.NewFields("Date", o.now().UTC().Format(http.TimeFormat)),
			httpmessage.NewFields(fields...)...)
		resource := &scheme.Resource{Response: httpmessage.Response{
			Status: status, Fields: all, Body: comeBody{strings.NewReader(body)},
			ContentLength: int64(len(body)), RemoteAddr: from,
		}}
		if r.Method == http.MethodHead {
			resource.Body = http.NoBody
		}
		return resource, nil
	}
	minute := []string{"Cache-Control", "max-age=60", "Content-Type", "text/plain"}
	switch strings.Trim(path, "/") {
	case "page", "query":
		if r.Fields.Get("If-None-Match") == `"v1"` {
			return answer(304, "", "Etag", `"v1"`)
		}
		return answer(200, "a page", append(minute, "Etag", `"v1"`, "Last-Modified", modified)...)
	case "modified":
		return answer(200, "modified", append(minute, "Last-Modified", modified)...)
	case "vary":
		language := r.Fields.Get("Accept-Language")
		return answer(200, "in "+language,
			append(minute, "Vary", "Accept-Language, Accept-Encoding", "Content-Language", language)...)
	case "client": // a client that sends no field about itself is a cache hit
		return answer(200, "for "+r.Fields.Get("X-Forwarded-For"),
			append(minute, "Vary", "X-Forwarded-For, X-Real-Ip")...)
	case "partial":
		if r.Fields.Get("Range") == "" {
			return answer(200, "a partial page",
				append(minute, "Etag", `"p"`, "Content-Range", "bytes 0-1/2", "Accept-Ranges", "bytes")...)
		}
		return answer(206, "artial", append(minute, "Etag", `"p"`, "Content-Range", "bytes 3-8/14")...)
	case "kilobyte":
		return answer(200, strings.Repeat("0123456789abcdef", 64), append(minute, "Etag", `"k"`)...)
	case "large":
		return answer(200, strings.Repeat("0123456789abcdef", 3000), append(minute, "Etag", `W/"large"`)...)
	case "huge":
		return answer(200, strings.Repeat("0123456789abcdef", 6<<16), append(minute, "Etag", `"huge"`)...)
	case "notfound":
		return answer(404, "nothing", minute...)
	case "gone":
		return answer(410, "gone", minute...)
	case "moved":
		return answer(301, "", "Cache-Control", "max-age=60", "Location", "http://a.example/page")
	case "chunked", "nolength":
		resource, err := answer(200, strings.Repeat("chunk ", 500), minute...)
		resource.ContentLength = -1
		if path == "/chunked" {
			resource.Fields.Set("Transfer-Encoding", "chunked")
		}
		return resource, err
	case "empty":
		return answer(204, "", "Cache-Control", "max-age=60")
	case "reason":
		resource, err := answer(200, "reason", minute...)
		resource.Reason = "Fine"
		return resource, err
	case "brief":
		return answer(200, "brief", "Cache-Control", "max-age=1, stale-while-revalidate=5")
	case "revalidated":
		if r.Fields.Get("If-None-Match") == `"r"` {
			return answer(304, "", "Etag", `"r"`, "Cache-Control", "no-cache")
		}
		return answer(200, "revalidated", "Etag", `"r"`, "Cache-Control", "no-cache")
	case "age":
		return answer(200, "age", append(minute, "Age", "10", "Warning", `199 - "x"`)...)
	case "cookie":
		return answer(200, "cookie", append(minute, "Set-Cookie", "a=b", "Set-Cookie", "c=d")...)
	case "odd":
		return answer(200, "odd",
			append(minute, "Content-Location", "/odd", "Content-Md5", "x", "Content-Language", "de",
				"Content-Range-Not", "x",
				"X-Empty", "", "X-High", "\xe9", "Connection", "x-gone", "X-Gone", "1", "Www-Authenticate", "Basic")...)
	case "private":
		return answer(200, "private", "Cache-Control", "private")
	case "fails":
		return nil, fmt.Errorf("%w: on purpose", resolver.ErrUnreachable)
	default: // the request as received
		var seen strings.Builder
		_ = r.Fields.Header().Write(&seen)
		return answer(200, fmt.Sprintf("%s %s %s %d\n%s", r.Method, r.URI, r.Host, sent, &seen), "Cache-Control",
			"no-store")
	}
}

// identifierRoot is the prefix of identifiers in web addresses.
const identifierRoot = "https://id.example"

// identifierOf is the table of identifiers in web addresses, by the path after the item.
func identifierOf(name, path string) (resolver.Answer, error) {
	record := &resolver.Record{
		Name: name, Version: 1, Changed: time.Unix(946684000, 0), Status: "active",
		Redirect: 307, Links: []resolver.Link{
			{URI: "https://a.example/pip", Rel: "gs1:pip"},
		},
	}
	from := func(language string) *resolver.Source {
		return &resolver.Source{Name: "registry", Record: record, Language: language}
	}
	locations := []resolver.Location{{URI: "https://a.example" + path, From: from("")}}
	switch path {
	case "/21/multi":
		record.Negotiable = true
		record.Links = append(record.Links,
			resolver.Link{URI: "https://a.example/fr", Rel: "gs1:defaultLinkMulti", Language: "fr"})
	case "/21/languages":
		locations = []resolver.Location{
			{URI: "https://a.example/en", From: from("en")},
			{URI: "https://a.example/de", From: from("de")},
		}
	case "/21/mirrors":
		locations = append(locations, resolver.Location{URI: "https://b.example" + path, From: from("")})
	case "/21/sandbox":
		record.Sandbox = true
	case "/21/none":
		return resolver.Answer{},
			&resolver.Negative{Kind: resolver.ErrNotFound, Reason: "the table says so", TTL: time.Hour, Record: record}
	case "/21/withdrawn":
		record.Links, record.Status = nil, "withdrawn"
		return resolver.Answer{},
			&resolver.Negative{Kind: resolver.ErrGone, Reason: "the table says so", TTL: time.Hour, Record: record}
	case "/21/unknown":
		return resolver.Answer{},
			&resolver.Negative{Kind: resolver.ErrNotFound, Reason: "the table says so", TTL: time.Hour}
	}
	return resolver.Answer{Locations: locations, TTL: time.Hour}, nil
}
