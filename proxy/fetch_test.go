package proxy_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver/scheme"
)

// handlerFunc is a scheme.Handler.
type handlerFunc func(ctx context.Context, r scheme.Request) (*scheme.Resource, error)

func (f handlerFunc) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	return f(ctx, r)
}

// gopherMenu answers requests with a menu of one item, except for some paths.
func gopherMenu(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	switch path := r.URI.Path(); path {
	case "/0missing":
		return nil, scheme.UpstreamError(http.StatusNotFound, "no <such> file")
	case "/0away":
		return scheme.Redirect(http.StatusFound, "gopher://b.example/1"), nil
	case "/0text":
		return &scheme.Resource{
			Response: httpmessage.Response{
				Status: http.StatusOK, ContentLength: 4, Body: io.NopCloser(strings.NewReader("text")),
				Fields: httpmessage.NewFields("Content-Type", "text/html", "Set-Cookie", "a=b"),
			},
		}, nil
	default:
		return scheme.ListingResource(&scheme.Listing{
			Kind: scheme.KindMenu, Title: "Menu of " + path, URI: r.URI.String(),
			Items: []scheme.Item{{Kind: scheme.ItemText, Name: "A <text>", URI: "gopher://a.example/0a%09b"}},
		}), nil
	}
}

func withGopher(c *proxy.Config) {
	mux := scheme.Mux{"gopher": scheme.Gateway{Handler: handlerFunc(gopherMenu)}}
	for name, handler := range c.Fetch.(scheme.Mux) {
		mux[name] = handler
	}
	c.Fetch, c.ListingTTL = mux, time.Minute
}

// The format of a listing is negotiated, for GET and HEAD, and its links use the form of the request: /fetch
// or absolute-form.
func TestListings(t *testing.T) {
	s := start(t, withGopher)
	const menu = "gopher://a.example/1"
	fetched := "/fetch?uri=" + url.QueryEscape(menu)
	for _, tt := range []struct{ target, accept, contentType, has string }{
		{menu, "", "text/html; charset=utf-8", `href="gopher://a.example/0a%09b"`},
		{menu, "application/json", "application/json", `"uri": "gopher://a.example/0a%09b"`},
		{fetched, "", "text/html; charset=utf-8", `href="/fetch?uri=gopher%3A%2F%2Fa.example%2F0a%2509b"`},
		{fetched, "application/json", "application/json", `"uri": "gopher://a.example/0a%09b"`},
		{"/fetch?uri=" + menu, "", "text/html; charset=utf-8", "Menu of /1"},
		{
			"/fetch?uri=gopher%3A%2F%2Fa.example%2F7a%2509&search=two+w%C3%B6rds%26%2B", "", "text/html; charset=utf-8",
			"Menu of /7a%09two%20w%C3%B6rds%26%2B",
		},
	} {
		response := s.get(t, tt.target, "Accept: "+tt.accept)
		body := text(t, response)
		control := "max-age=60"
		if strings.HasPrefix(tt.target, "/") {
			control = "private, max-age=60"
		}
		if response.StatusCode != 200 || response.Header.Get("Content-Type") != tt.contentType ||
			!strings.Contains(body, tt.has) ||
			response.Header.Get("Vary") != "Accept, Accept-Language" ||
			!strings.Contains(response.Header.Get("Content-Security-Policy"), "default-src 'none'") ||
			response.Header.Get("Cache-Control") != control {
			t.Errorf("%s %s: %d %v\n%s", tt.target, tt.accept, response.StatusCode, response.Header, body)
		}
		again := s.get(t, tt.target, "Accept: "+tt.accept, "If-None-Match: "+response.Header.Get("ETag"))
		if body := text(t, again); again.StatusCode != 304 || body != "" ||
			again.Header.Get("Content-Security-Policy") != response.Header.Get("Content-Security-Policy") ||
			again.Header.Get("Cache-Control") != control {
			t.Errorf("%s %s again: %d %v %s", tt.target, tt.accept, again.StatusCode, again.Header, body)
		}
		head := s.ask(t, "HEAD "+tt.target+" HTTP/1.1\r\nHost: a\r\nAccept: "+tt.accept+"\r\n\r\n")[0]
		if rest := text(t, head); head.StatusCode != 200 || rest != "" || head.ContentLength != int64(len(body)) ||
			head.Header.Get("Etag") != response.Header.Get("Etag") {
			t.Errorf("%s %s by HEAD: %d %v %s", tt.target, tt.accept, head.StatusCode, head.Header, rest)
		}
	}
}

// An error of a server of another protocol becomes a response with the matching status, as a page or for programs.
func TestRefusals(t *testing.T) {
	s := start(t, withGopher)
	for _, tt := range []struct {
		request, accept string
		status          int
		has             string
	}{
		{"GET gopher://a.example/0missing", "application/json", 404, `no <such> file`},
		{"GET gopher://a.example/0missing", "text/html", 404, "no &lt;such&gt; file"},
		{"GET /fetch?uri=gopher://a.example/0missing", "", 404, "no &lt;such&gt; file"},
		{"PUT gopher://a.example/0a", "", 501, "only GET and HEAD"},
		{"DELETE gopher://a.example/0a", "", 501, "only GET and HEAD"},
		{"GET gopher://a.example:25/0a", "", 403, "gateways.allow_ports"},
		{"GET /fetch?uri=gopher://a.example:25/0a", "", 403, "gateways.allow_ports"},
		{"GET gopher://a.example/0a%0d%0ab", "", 400, "selector"},
		{"GET /fetch?uri=gopher://a.example/0a%250d%250ab", "", 400, "selector"},
		{"POST /fetch?uri=gopher://a.example/", "", 405, ""},
		{"GET nope://a.example/", "", 501, "not supported"},
	} {
		response := s.ask(t, tt.request+" HTTP/1.1\r\nHost: a\r\nAccept: "+tt.accept+"\r\n\r\n")[0]
		if body := text(t, response); response.StatusCode != tt.status || !strings.Contains(body, tt.has) {
			t.Errorf("%s: %d %v\n%s", tt.request, response.StatusCode, response.Header, body)
		}
		if status := response.Header.Get("Proxy-Status"); !strings.HasPrefix(status, "urnd; ") {
			t.Errorf("%s: Proxy-Status %q", tt.request, status)
		}
	}
}

// A listing at /fetch is sorted by the parameter sort, without a script. As part of the URI the parameter is
// not urnd's.
func TestSortedListings(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		withGopher(c)
		c.Fetch.(scheme.Mux)["ftp"] = scheme.Gateway{Handler: handlerFunc(func(_ context.Context,
			r scheme.Request,
		) (*scheme.Resource, error) {
			one, two := int64(1), int64(2)
			return scheme.ListingResource(&scheme.Listing{
				Kind: scheme.KindDirectory, URI: r.URI.String(),
				Items: []scheme.Item{
					{Kind: scheme.ItemDirectory, Name: "c", Modified: time.Unix(1, 0)},
					{Kind: scheme.ItemFile, Name: "a", Size: &one, Modified: time.Unix(3, 0)},
					{Kind: scheme.ItemFile, Name: "B", Size: &two, Modified: time.Unix(2, 0)},
				},
			}), nil
		})}
	})
	const at = "/fetch?uri=ftp%3A%2F%2Fh.example%2Fd%2F"
	for target, want := range map[string]string{
		at: "caB", at + "&sort=size": "Bac", at + "&sort=other": "caB",
		"/fetch?uri=ftp://h.example/d/&sort=size": "caB",
	} {
		page := text(t, s.get(t, target, "Accept: */*"))
		_, rows, _ := strings.Cut(page, "<tbody>")
		got := ""
		for _, part := range strings.Split(rows, "<bdi>")[1:] {
			got += part[:1]
		}
		if got != want || !strings.Contains(target, "d/&") &&
			!strings.Contains(page, `href="`+strings.ReplaceAll(at+"&sort=size", "&", "&amp;")+`"`) {
			t.Errorf("%s: %q, want %q\n%s", target, got, want, page)
		}
	}
}

// Content-Location is set for the resource itself, and not for documents that urnd renders (RFC 9110 section 8.7).
func TestLocationOfContent(t *testing.T) {
	s := start(t, withGopher)
	for name, want := range map[string]string{
		"0text": "gopher://a.example/0text", "1menu": "", "0missing": "",
		"0away": "",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			response := s.ask(t, method+" /fetch?uri=gopher://a.example/"+name+" HTTP/1.1\r\nHost: a\r\n\r\n")[0]
			if got := response.Header.Get("Content-Location"); got != want {
				t.Errorf("%s %s: %q, want %q", method, name, got, want)
			}
		}
	}
	for name, want := range map[string]string{"0text": "gopher://a.example/0text", "1menu": ""} {
		s.next = withLocations("gopher://a.example/" + name)
		if got := s.get(t, "/uri-res/N2R?urn:example:"+name).Header.Get("Content-Location"); got != want {
			t.Errorf("N2R %s: %q, want %q", name, got, want)
		}
	}
}

// Listings of both forms of request, and their formats, are cached independently.
func TestListingsAreCached(t *testing.T) {
	var requested atomic.Int32
	s := start(t, func(c *proxy.Config) {
		withGopher(c)
		mux, _ := c.Fetch.(scheme.Mux)
		next := mux["gopher"]
		mux["gopher"] = handlerFunc(func(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
			requested.Add(1)
			return next.Fetch(ctx, r)
		})
		withCache(t, c)
	})
	targets := []string{"gopher://a.example/1", "/fetch?uri=gopher://A.example:70/"}
	first := make(map[string]string)
	for range 2 {
		for _, target := range targets {
			for _, accept := range []string{"text/html", "application/json", "text/html;q=0.9,image/png"} {
				body := text(t, s.get(t, target, "Accept: "+accept, "Referer: http://a/"))
				if before, ok := first[target+accept]; ok && before != body {
					t.Errorf("%s as %s: %s, then %s", target, accept, before, body)
				}
				first[target+accept] = body
			}
		}
	}
	if n := requested.Load(); n != 4 {
		t.Errorf("the server was asked %d times", n)
	}
	if strings.Contains(first[targets[0]+"text/html"], "/fetch") ||
		!strings.Contains(first[targets[1]+"text/html"], "/fetch?uri=") {
		t.Errorf("%q", first)
	}
}

// Names resolve to resources of each scheme, also where a URI has no host, and over redirects between them.
func TestResourcesOfSchemes(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "gopher://a.example/0text")
		w.WriteHeader(http.StatusFound)
	}))
	defer origin.Close()
	s := start(t, func(c *proxy.Config) {
		withGopher(c)
		mux, _ := c.Fetch.(scheme.Mux)
		mux["news"] = mux["gopher"]
	})
	for location, want := range map[string]string{
		"gopher://a.example/0text":      "text",
		"gopher://a.example/1":          `href="/fetch?uri=gopher%3A%2F%2Fa.example%2F0a%2509b"`,
		"news:comp.lang.c":              "Menu of comp.lang.c",
		origin.URL + "/":                "text",
		"gopher://u.example/0missing":   "",
		"gopher://a.example:25/0text":   "",
		"ftp://a.example/not-supported": "",
	} {
		s.next = withLocations(location)
		response := s.get(t, "/uri-res/N2R?urn:example:a")
		body := text(t, response)
		if ok := response.StatusCode == 200; ok != (want != "") || !strings.Contains(body, want) {
			t.Errorf("%s: %d %v\n%s", location, response.StatusCode, response.Header, body)
		}
	}
}

// A URL typed on the front page is redirected to a form that a browser can show.
func TestTypedURLs(t *testing.T) {
	s := start(t, withGopher)
	for _, tt := range []struct{ target, accept, location string }{
		{"/?uri=gopher://A.example/", "text/html", "/fetch?uri=gopher%3A%2F%2FA.example%2F"},
		{"/?uri=telnet://a.example/", "text/html", "/fetch?uri=telnet%3A%2F%2Fa.example%2F"},
		{"/?uri=gopher://a.example/", "", "gopher://a.example/1"},
		{"/?uri=http://a.example/", "text/html", "http://a.example/"},
		{"/?uri=mailto:a@b.example", "text/html", "mailto:a@b.example"},
		{"/gopher://a.example/", "text/html", "gopher://a.example/1"},
	} {
		if response := s.get(t, tt.target, "Accept: "+tt.accept); response.StatusCode != 302 ||
			response.Header.Get("Location") != tt.location {
			t.Errorf("%s as %s: %d %s", tt.target, tt.accept, response.StatusCode, response.Header.Get("Location"))
		}
	}
}
