package thttp_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Requirements of the RFCs that no other test of this package covers, with their section.

const list = "Content-Type: text/uri-list"

// ttlOf returns how long an answer, or a negative answer, may be cached.
func ttlOf(answer resolver.Answer, err error) time.Duration {
	var n *resolver.Negative
	if errors.As(err, &n) {
		return n.TTL
	}
	return answer.TTL
}

func TestRequirements(t *testing.T) {
	const to, usual = "Location: http://a.example/", 5 * time.Minute
	cached := func(control string) string { return to + "\nCache-Control: " + control }
	for _, tt := range []struct {
		name    string
		service resolver.Service
		server  server
		body    string
		want    string // locations
		ttl     time.Duration
		err     error
	}{
		// RFC 2169 section 3.1: any 30X status, and access may be refused.
		{name: "300", server: server{status: 300, header: to}, want: "http://a.example/", ttl: usual},
		{name: "301", server: server{status: 301, header: to}, want: "http://a.example/", ttl: usual},
		{name: "307", server: server{status: 307, header: to}, want: "http://a.example/", ttl: usual},
		{name: "308", server: server{status: 308, header: to}, want: "http://a.example/", ttl: usual},
		{
			name: "a redirect with a body", server: server{status: 303, header: to + "\nContent-Type: text/html"},
			body: "<a href='http://b.example/'>",
			want: "http://a.example/", ttl: usual,
		},
		{
			name: "401", server: server{status: 401, header: to + "\nWWW-Authenticate: Basic"},
			err: resolver.ErrForbidden,
		},
		{
			name: "403 with a list", server: server{status: 403, header: list}, body: "http://shop.example/",
			err: resolver.ErrForbidden,
		},
		{
			name: "500", server: server{status: 500, header: list}, body: "http://a.example/",
			err: resolver.ErrUnreachable,
		},
		{name: "502", server: server{status: 502}, err: resolver.ErrUnreachable},
		{name: "504", server: server{status: 504}, err: resolver.ErrUnreachable},

		// RFC 2169 sections 2 and 3.6: HTTP caching applies.
		{
			name: "private", server: server{status: 303, header: cached("private, max-age=60")},
			want: "http://a.example/",
		},
		{
			name: "no-cache", server: server{status: 303, header: cached("no-cache, max-age=60")},
			want: "http://a.example/",
		},
		{
			name:   "s-maxage, as in a shared cache",
			server: server{status: 303, header: cached("max-age=60, S-MaxAge=7")}, want: "http://a.example/",
			ttl: 7 * time.Second,
		},
		{
			name:   "a quoted value, in a second field",
			server: server{status: 303, header: cached("public") + "\nCache-Control: max-age=\"9\""},
			want:   "http://a.example/", ttl: 9 * time.Second,
		},
		{
			name: "stale already", server: server{status: 303, header: cached("max-age=60") + "\nAge: 61"},
			want: "http://a.example/",
		},
		{
			name: "a list", service: resolver.I2Ls,
			server: server{status: 200, header: list + "\nCache-Control: max-age=60"}, body: "http://a.example/",
			want: "http://a.example/", ttl: time.Minute,
		},
		{
			name: "404 with a lifetime", server: server{status: 404, header: "Cache-Control: max-age=30"},
			err: resolver.ErrNotFound, ttl: 30 * time.Second,
		},
		{name: "404 without a lifetime", server: server{status: 404}, err: resolver.ErrNotFound, ttl: usual},
		{
			name: "404, not to be cached", server: server{status: 404, header: "Cache-Control: no-store"},
			err: resolver.ErrNotFound,
		},
		{
			name: "410", server: server{status: 410, header: "Cache-Control: max-age=86400"}, err: resolver.ErrGone,
			ttl: time.Hour,
		},
		{
			name: "501", server: server{status: 501, header: "Cache-Control: max-age=30"}, err: resolver.ErrUnsupported,
			ttl: 30 * time.Second,
		},
		{
			name: "no URLs", service: resolver.I2Ls,
			server: server{status: 200, header: list + "\nCache-Control: max-age=30"}, body: "# urn:example:a%2Fb\r\n",
			err: resolver.ErrNotFound, ttl: 30 * time.Second,
		},

		// RFC 2169 appendix A, RFC 2483 section 5.
		{
			name: "a number sign within a line", service: resolver.I2Ls, server: server{status: 200, header: list},
			body: "http://a.example/#f\r\n#http://b.example/\r\n", want: "http://a.example/#f", ttl: usual,
		},
		{
			name: "without the first comment, and the last line end", service: resolver.I2Ls,
			server: server{status: 200, header: list},
			body:   "http://a.example/", want: "http://a.example/", ttl: usual,
		},
		{
			name: "LF", service: resolver.I2Ls, server: server{status: 200, header: list},
			body: "# x\nhttp://a.example/\n# y\nhttp://b.example/\n",
			want: "http://a.example/ http://b.example/", ttl: usual,
		},
		{
			name: "CR", service: resolver.I2Ls, server: server{status: 200, header: list},
			body: "# x\rhttp://a.example/\r", want: "http://a.example/", ttl: usual,
		},
		{
			name: "two URIs on a line", service: resolver.I2Ls, server: server{status: 200, header: list},
			body: "http://a.example/ http://b.example/\r\nhttp://c.example/\r\n", want: "http://c.example/", ttl: usual,
		},
		{
			name: "charset", service: resolver.I2Ls,
			server: server{status: 200, header: `content-type: Text/URI-List; Charset="us-ascii"`},
			body:   "http://a.example/", want: "http://a.example/", ttl: usual,
		},

		// RFC 2483 section 4.2: the order of the server is kept.
		{
			name: "order", service: resolver.I2Ls, server: server{status: 200, header: list},
			body: "http://z.example/\r\nhttp://a.example/\r\n",
			want: "http://z.example/ http://a.example/", ttl: usual,
		},
		{
			name: "a list for N2L", server: server{status: 200, header: list}, body: "ftp://z.example/\r\n",
			want: "ftp://z.example/", ttl: usual,
		},
	} {
		tt.server.body = strings.NewReader(tt.body)
		answer, err := client(&tt.server).Query(t.Context(), "http://r.example", query(t, tt.service))
		if locations(answer) != tt.want || !errors.Is(err, tt.err) || ttlOf(answer, err) != tt.ttl {
			t.Errorf("%s: %q for %s, %v", tt.name, locations(answer), ttlOf(answer, err), err)
		}
	}
}

// recorder records the request that it responds to.
type recorder struct {
	server
	request scheme.Request
}

func (r *recorder) Fetch(ctx context.Context, request scheme.Request) (*scheme.Resource, error) {
	r.request = request
	return r.server.Fetch(ctx, request)
}

// RFC 2169 section 2: the URI follows the question mark unchanged, with its percent-encodings. RFC 8141 section
// 2.3.1: an r-component is sent with it.
func TestRequest(t *testing.T) {
	for _, tt := range []struct {
		name, passed string
		service      resolver.Service
		want         string
	}{
		{"urn:foo:12345-54321", "", resolver.I2L, "/uri-res/N2L?urn:foo:12345-54321"},
		{"urn:foo:12345-54321", "", resolver.I2Ls, "/uri-res/N2Ls?urn:foo:12345-54321"},
		{"urn:cid:foo@huh.com", "", resolver.I2L, "/uri-res/N2L?urn:cid:foo@huh.com"},
		{
			"urn:example:%7e%2D%C3%A9a;b=c&d+e'f(g)*!$@~/h", "", resolver.I2L,
			"/uri-res/N2L?urn:example:%7e%2D%C3%A9a;b=c&d+e'f(g)*!$@~/h",
		},
		{"urn:example:a", "?+CCResolve:cc=uk", resolver.I2L, "/uri-res/N2L?urn:example:a?+CCResolve:cc=uk"},
	} {
		q := queryOf(t, tt.name, tt.service)
		q.ResolutionParams = tt.passed
		r := &recorder{server: server{status: 303, header: "Location: http://a.example/"}}
		if _, err := client(r).Query(t.Context(), "http://r.example:8080", q); err != nil {
			t.Fatal(err)
		}
		got := r.request
		if got.Method != http.MethodGet || got.URI.String() != "http://r.example:8080"+tt.want ||
			!strings.HasPrefix(got.Fields.Get("Accept"), "text/uri-list,") {
			t.Errorf("%s: %s %s %v", tt.name, got.Method, got.URI, got.Fields)
		}
	}
}
