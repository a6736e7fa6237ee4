package thttp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/thttp"
	"github.com/urnd/urnd/uri"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// server sends the same response to every request, and records the requests.
type server struct {
	status    int
	header    string // "Name: value" lines
	body      io.Reader
	requested []string
}

func (s *server) Fetch(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	s.requested = append(s.requested, r.URI.String())
	if s.status == 0 {
		return nil, resolver.ErrUnreachable
	}
	header := httpmessage.Fields{}
	for line := range strings.Lines(s.header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		header.Add(name, value)
	}
	body := s.body
	if body == nil {
		body = strings.NewReader("")
	}
	return &scheme.Resource{Response: httpmessage.Response{Status: s.status, Fields: header, Body: io.NopCloser(body)}},
		nil
}

func client(s scheme.Handler) *thttp.Client {
	return thttp.New(thttp.Config{
		Web: s, Timeout: time.Minute, MaxBody: 100, MaxLocations: 2, DefaultTTL: 5 * time.Minute, MaxTTL: time.Hour,
		Schemes: map[string][]string{"example": {"ftp"}},
		Now:     func() time.Time { return now },
	})
}

func query(t *testing.T, service resolver.Service) resolver.Query {
	t.Helper()
	return queryOf(t, "urn:example:a%2Fb", service)
}

func queryOf(t *testing.T, name string, service resolver.Service) resolver.Query {
	t.Helper()
	u, err := uri.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	q, err := resolver.NewQuery(u, service)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func locations(answer resolver.Answer) string {
	var all []string
	for _, l := range answer.Locations {
		all = append(all, l.URI)
	}
	return strings.Join(all, " ")
}

func TestQuery(t *testing.T) {
	const base = "http://resolver.example:8080"
	for _, tt := range []struct {
		name    string
		service resolver.Service
		server  server
		want    string // locations
		ttl     time.Duration
		err     error
	}{
		{
			name: "N2L", server: server{status: 303, header: "Location: http://a.example/b%2Fc"},
			want: "http://a.example/b%2Fc", ttl: 5 * time.Minute,
		},
		{
			name:   "302, as to HTTP/1.0",
			server: server{status: 302, header: "Location: https://a.example/\nCache-Control: max-age=60"},
			want:   "https://a.example/", ttl: time.Minute,
		},
		{
			name: "with an Age", server: server{
				status: 302,
				header: "Location: http://a.example/\nCache-Control: public, s-maxage=60, max-age=90\nAge: 20",
			},
			want: "http://a.example/", ttl: 40 * time.Second,
		},
		{
			name: "Expires", server: server{
				status: 302,
				header: "Location: http://a.example/\nExpires: Sat, 21 Nov 2026 12:00:30 GMT",
			},
			want: "http://a.example/", ttl: 30 * time.Second,
		},
		{
			name: "Expires, by a clock that is wrong", server: server{
				status: 302,
				header: "Location: http://a.example/\nDate: Sat, 21 Nov 2026 11:00:00 GMT\nExpires: Sat, 21 Nov " +
					"2026 11:00:30 GMT",
			}, want: "http://a.example/",
			ttl: 30 * time.Second,
		},
		{
			name: "Expires, with an Age", server: server{
				status: 302,
				header: "Location: http://a.example/\nDate: Sat, 21 Nov 2026 12:00:00 GMT\nAge: 20\nExpires: Sat, 21 " +
					"Nov 2026 12:00:30 GMT",
			}, want: "http://a.example/",
			ttl: 10 * time.Second,
		},
		{
			name:   "longer than MaxTTL",
			server: server{status: 302, header: "Location: http://a.example/\nCache-Control: max-age=2147483647"},
			want:   "http://a.example/", ttl: time.Hour,
		},
		{
			name: "an invalid Expires", server: server{status: 302, header: "Location: http://a.example/\nExpires: 0"},
			want: "http://a.example/",
		},
		{name: "no-store", server: server{
			status: 302,
			header: "Location: http://a.example/\nCache-Control: no-store, max-age=60",
		}, want: "http://a.example/"},
		{
			name:   "a Location with bytes that servers send raw",
			server: server{status: 302, header: "Location: https://a.example/b|\xc3\xa4?c[]=1%"},
			want:   "https://a.example/b%7C%C3%A4?c%5B%5D=1%25", ttl: 5 * time.Minute,
		},
		{
			name: "a relative Location", server: server{status: 302, header: "Location: /c"}, want: base + "/c",
			ttl: 5 * time.Minute,
		},
		{
			name: "N2Ls", service: resolver.I2Ls, want: "http://a.example/ ftp://b.example/", ttl: 5 * time.Minute,
			server: server{
				status: 200, header: "Content-Type: text/uri-list; charset=utf-8",
				body: strings.NewReader("# urn:x\r\nhttp://a.example/\r\n\nftp://b.example/\rhttp://c.example/"),
			},
		},
		{
			name: "a list with invalid locations", service: resolver.I2Ls, want: "http://a.example/",
			ttl: 5 * time.Minute,
			server: server{
				status: 200, header: "Content-Type: text/uri-list",
				body: strings.NewReader("javascript:alert(1)\nnot a URI\nfile:///etc/passwd\nhttp://a.example/\n"),
			},
		},
		{name: "a list where a redirect was asked for", want: "http://a.example/", ttl: 5 * time.Minute, server: server{
			status: 200,
			header: "Content-Type: text/uri-list", body: strings.NewReader("http://a.example/"),
		}},
		{
			name: "an empty list", service: resolver.I2Ls, err: resolver.ErrNotFound,
			server: server{status: 200, header: "Content-Type: text/uri-list"},
		},
		{name: "a list that is too long", service: resolver.I2Ls, err: resolver.ErrUnreachable, server: server{
			status: 200,
			header: "Content-Type: text/uri-list", body: strings.NewReader(strings.Repeat("# x\n", 100)),
		}},
		{name: "a truncated list", service: resolver.I2Ls, err: resolver.ErrUnreachable, server: server{
			status: 200, header: "Content-Type: text/uri-list",
			body: broken{},
		}},
		{name: "unknown", err: resolver.ErrNotFound, server: server{status: 404}},
		{name: "gone", err: resolver.ErrGone, server: server{status: 410}},
		{name: "not offered", err: resolver.ErrUnsupported, server: server{status: 501}},
		{name: "400: not a name of this server", err: resolver.ErrNotFound, server: server{status: 400}},
		{
			name: "a list of scripts", service: resolver.I2Ls, err: resolver.ErrUnreachable,
			server: server{
				status: 200, header: "Content-Type: text/uri-list",
				body: strings.NewReader("javascript:alert(1)\n"),
			},
		},
		{
			name: "a compressed list", service: resolver.I2Ls, want: "http://a.example/", ttl: 5 * time.Minute,
			server: server{
				status: 200, header: "Content-Type: text/uri-list\nContent-Encoding: gzip",
				body: compressed(t, "http://a.example/\r\n"),
			},
		},
		{
			name: "a compressed list that is too long", service: resolver.I2Ls, err: resolver.ErrUnreachable,
			server: server{
				status: 200, header: "Content-Type: text/uri-list\nContent-Encoding: gzip",
				body: compressed(t, strings.Repeat("# x\n", 10_000)),
			},
		},
		{
			name: "a list in an unknown coding", service: resolver.I2Ls, err: resolver.ErrUnreachable,
			server: server{
				status: 200, header: "Content-Type: text/uri-list\nContent-Encoding: br",
				body: strings.NewReader("x"),
			},
		},
		{name: "unavailable", err: resolver.ErrUnreachable, server: server{status: 503}},
		{name: "down", err: resolver.ErrUnreachable},
		{name: "no Location", err: resolver.ErrUnreachable, server: server{status: 302}},
		{name: "no content", err: resolver.ErrNotFound, server: server{status: 204}},
		{name: "a page with a Location", want: "http://a.example/", ttl: 5 * time.Minute, server: server{
			status: 200,
			header: "Content-Type: text/html\nLocation: http://a.example/",
		}},
		{name: "a page", err: resolver.ErrUnreachable, server: server{status: 200, header: "Content-Type: text/html"}},
		{name: "to itself", err: resolver.ErrUnreachable, server: server{
			status: 302,
			header: "Location: HTTP://Resolver.EXAMPLE:8080/uri-res/N2L?urn:example:a%2fb#f",
		}},
		{
			name: "to another name", err: resolver.ErrUnreachable,
			server: server{status: 302, header: "Location: urn:example:c"},
		},
		{
			name: "to a scheme that is not allowed", err: resolver.ErrUnreachable,
			server: server{status: 302, header: "Location: gopher://a.example/"},
		},
		{
			name: "to an allowed scheme", want: "ftp://a.example/", ttl: 5 * time.Minute,
			server: server{status: 302, header: "Location: ftp://a.example/"},
		},
		{
			name: "to a script", err: resolver.ErrUnreachable,
			server: server{status: 302, header: "Location: javascript:alert(1)"},
		},
		{
			name: "to an invalid URI", err: resolver.ErrUnreachable,
			server: server{status: 302, header: "Location: http://a b/"},
		},
	} {
		ctx, trace := resolver.WithTrace(t.Context(), func() time.Time { return now })
		answer, err := client(&tt.server).Query(ctx, base, query(t, tt.service))
		if locations(answer) != tt.want || !errors.Is(err, tt.err) || err == nil && answer.TTL != tt.ttl {
			t.Errorf("%s: %q for %s, %v", tt.name, locations(answer), answer.TTL, err)
		}
		if errors.As(err, new(*uri.ParseError)) {
			t.Errorf("%s: %v is an error of the client", tt.name, err)
		}
		path := map[resolver.Service]string{resolver.I2L: "N2L", resolver.I2Ls: "N2Ls"}[tt.service]
		if want := base + "/uri-res/" + path + "?urn:example:a%2Fb"; len(tt.server.requested) != 1 ||
			tt.server.requested[0] != want {
			t.Errorf("%s: asked %q", tt.name, tt.server.requested)
		}
		if steps := trace.Steps(); len(steps) == 0 || !strings.HasPrefix(steps[len(steps)-1].Detail, "GET "+base) {
			t.Errorf("%s: steps %v", tt.name, steps)
		}
	}
}

// compressed returns a body with the content coding gzip.
func compressed(t *testing.T, text string) io.Reader {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// A list with only FTP locations is an answer, unless the configuration restricts the schemes. Locations that
// are left out are in the trace.
func TestSchemesOfLocations(t *testing.T) {
	for nid, want := range map[string]string{
		"example": "ftp://a.example/",
		"other":   "gopher://a.example/ ftp://a.example/",
	} {
		s := &server{
			status: 200, header: "Content-Type: text/uri-list",
			body: strings.NewReader("gopher://a.example/\nftp://a.example/\nnot a URI\n"),
		}
		ctx, trace := resolver.WithTrace(t.Context(), func() time.Time { return now })
		answer, err := client(s).Query(ctx, "http://r.example", queryOf(t, "urn:"+nid+":1", resolver.I2Ls))
		if got := locations(answer); got != want || err != nil {
			t.Errorf("%s: %s, %v", nid, got, err)
		}
		var steps string
		for _, step := range trace.Steps() {
			steps += step.Detail + "\n"
		}
		if left := strings.Contains(steps, "omitted from the list: gopher://a.example/"); left != (nid == "example") ||
			!strings.Contains(steps,
				"omitted from the list: not a URI: ") {
			t.Errorf("%s: %s", nid, steps)
		}
	}
}

// Descriptions and names: RFC 2169 sections 3.5 and 3.6.
func TestDescriptionsAndNames(t *testing.T) {
	for _, tt := range []struct {
		service               resolver.Service
		path, header, body    string
		status                int
		want, kind, described string
	}{
		{
			service: resolver.I2C, path: "N2C", status: 200, header: "Content-Type: text/plain; charset=utf-8",
			body: "a book",
			want: "http://r.example/uri-res/N2C?urn:example:1", kind: "text/plain", described: "a book",
		},
		{
			service: resolver.I2Cs, path: "N2C", status: 200, header: "Content-Type: application/ld+json", body: "{}",
			want: "http://r.example/uri-res/N2C?urn:example:1", kind: "application/ld+json", described: "{}",
		},
		{
			service: resolver.I2C, path: "N2C", status: 200, header: "Content-Type: application/pdf", body: "x",
			want: "http://r.example/uri-res/N2C?urn:example:1", kind: "application/pdf",
		},
		{
			service: resolver.I2C, path: "N2C", status: 200, header: "Content-Type: text/plain",
			body: strings.Repeat("x", 101),
			want: "http://r.example/uri-res/N2C?urn:example:1", kind: "text/plain",
		},
		{
			service: resolver.I2C, path: "N2C", status: 200, header: "Content-Type: text/plain", body: "\xff",
			want: "http://r.example/uri-res/N2C?urn:example:1", kind: "text/plain",
		},
		{
			service: resolver.I2C, path: "N2C", status: 303, header: "Location: /about/1",
			want: "http://r.example/about/1",
		},
		{
			service: resolver.I2Ns, path: "N2Ns", status: 200, header: "Content-Type: text/uri-list",
			body: "urn:example:2\nhttp://a.example/\nurn:isbn:1",
			want: "urn:example:2 urn:isbn:1",
		},
		{service: resolver.I2N, path: "N2Ns", status: 302, header: "Location: urn:example:2", want: "urn:example:2"},
	} {
		s := &server{status: tt.status, header: tt.header, body: strings.NewReader(tt.body)}
		answer, err := client(s).Query(t.Context(), "http://r.example", queryOf(t, "urn:example:1", tt.service))
		if locations(answer) != tt.want || err != nil ||
			s.requested[0] != "http://r.example/uri-res/"+tt.path+"?urn:example:1" {
			t.Errorf("%+v: %s, %v, asked %v", tt, locations(answer), err, s.requested)
			continue
		}
		if from := answer.Locations[0].From; from.Type != tt.kind || from.Content != tt.described ||
			from.Name != "thttp r.example" {
			t.Errorf("%+v: from %+v", tt, from)
		}
	}
}

// Resolution parameters are sent to the server.
func TestQuerySendsParams(t *testing.T) {
	s := &server{status: 303, header: "Location: http://a.example/"}
	q := query(t, resolver.I2L)
	q.ResolutionParams = "?c=ToC"
	if _, err := client(s).Query(t.Context(), "http://r.example", q); err != nil ||
		s.requested[0] != "http://r.example/uri-res/N2L?urn:example:a%2Fb?c=ToC" {
		t.Errorf("asked %q, %v", s.requested, err)
	}
}

// broken is a body that fails.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// blocked does not respond until the request ends.
type blocked struct{}

func (blocked) Fetch(ctx context.Context, _ scheme.Request) (*scheme.Resource, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestQueryTimesOut(t *testing.T) {
	c := thttp.New(thttp.Config{Web: blocked{}, Timeout: time.Millisecond, Now: func() time.Time { return now }})
	if _, err := c.Query(t.Context(), "http://a.example", query(t, resolver.I2L)); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestResolver(t *testing.T) {
	s := &server{status: 303, header: "Location: http://a.example/"}
	r := thttp.NewResolver(client(s), map[string][]string{"example": {"http://one.example", "http://two.example"}})
	if answer, err := r.Resolve(t.Context(), query(t, resolver.I2L)); err != nil ||
		locations(answer) != "http://a.example/" || len(s.requested) != 1 {
		t.Errorf("%+v, %v, asked %q", answer, err, s.requested)
	}
	down := &server{}
	r = thttp.NewResolver(client(down), map[string][]string{"example": {"http://one.example", "http://two.example"}})
	if _, err := r.Resolve(t.Context(), query(t, resolver.I2L)); !errors.Is(err, resolver.ErrUnreachable) ||
		len(down.requested) != 2 {
		t.Errorf("%v, asked %q", err, down.requested)
	}
	r = thttp.NewResolver(client(s), nil)
	if _, err := r.Resolve(t.Context(), query(t, resolver.I2L)); !errors.Is(err, resolver.ErrUnsupported) {
		t.Errorf("no server: %v", err)
	}
}

// The answer to I2C is a description of the resource, in the language of Content-Language if that is one
// language.
func TestDescriptionsAreLinks(t *testing.T) {
	for _, tt := range []struct {
		service  resolver.Service
		header   string
		rel, tag string
	}{
		{resolver.I2C, "Content-Type: text/plain\r\nContent-Language: de-at", "describedby", "de-AT"},
		{resolver.I2C, "Content-Type: text/plain\r\nContent-Language: de, en", "describedby", ""},
		{resolver.I2C, "Content-Type: text/plain\r\nContent-Language: <b>", "describedby", ""},
		{resolver.I2C, "Content-Type: application/pdf", "describedby", ""},
		{resolver.I2C, "Location: http://about.example/", "describedby", ""},
		// The header fields of a redirect are ignored.
		{resolver.I2L, "Location: http://a.example/\r\nContent-Type: text/html\r\nContent-Language: de", "", ""},
	} {
		s := &server{status: 200, header: tt.header, body: strings.NewReader("text")}
		answer, err := client(s).Query(t.Context(), "http://r.example", queryOf(t, "urn:example:1", tt.service))
		if err != nil || len(answer.Locations) != 1 {
			t.Errorf("%+v: %+v, %v", tt, answer, err)
			continue
		}
		if link := answer.Locations[0].ToLink(); link.Rel != tt.rel || link.Language != tt.tag {
			t.Errorf("%+v: %+v", tt, link)
		}
	}
}
