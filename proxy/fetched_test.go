package proxy_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/forward"
)

func fetchOf(u string) string { return "/fetch?uri=" + url.QueryEscape(u) }

// What an origin selects by the client that urnd names is for that client alone: RFC 9111 section 4.1.
func TestFetchedByClient(t *testing.T) {
	for _, tt := range []struct {
		forwarded forward.Forwarded
		name      string
		one, two  string
	}{
		{forward.ForwardedFor, "X-Forwarded-For", "198.51.100.1", "198.51.100.2"},
		{forward.ForwardedStandard, "Forwarded", "for=198.51.100.1", "for=198.51.100.2"},
		{forward.ForwardedOff, "X-Forwarded-For", "", ""},
		{forward.ForwardedTransparent, "X-Forwarded-For", "", ""},
	} {
		origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Vary", tt.name)
			fmt.Fprint(w, strings.Join(r.Header.Values(tt.name), ", "))
		}))
		s := start(t, func(c *proxy.Config) {
			withCache(t, c)
			c.Forward.Forwarded = tt.forwarded
			c.Access.Trusted, c.Access.Proxy = []netip.Prefix{loopback}, prefixes("198.51.100.0/24")
		})
		get := func(client, want string) (isHit bool) {
			response := s.get(t, fetchOf(origin.URL+"/"), "X-Forwarded-For: "+client)
			if got := text(t, response); response.StatusCode != 200 || got != want {
				t.Errorf("%s to %s: %d %q, want %q", tt.name, client, response.StatusCode, got, want)
			}
			return strings.HasPrefix(response.Header.Get("Cache-Status"), "urnd; hit")
		}
		testserver.Wait(t, "the response of one client is stored", func() bool { return get("198.51.100.1", tt.one) })
		if isHit := get("198.51.100.2", tt.two); isHit != (tt.two == "") {
			t.Errorf("%s: the other client gets what is stored: %t", tt.name, isHit)
		}
		origin.Close()
	}
}

// Interim responses and trailers have fields, too (RFC 9110 sections 6.5 and 15.2), which would be those of this server.
func TestFetchedWithoutInterimResponsesAndTrailers(t *testing.T) {
	o := always(t, "HTTP/1.1 103 Early Hints\r\nSet-Cookie: a=b\r\nLink: </style>; rel=preload\r\nContent-Security-Policy: script-src *\r\n\r\n"+
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Set-Cookie\r\n\r\n2\r\nok\r\n0\r\nSet-Cookie: a=b\r\nX-Unannounced: 1\r\n\r\n")
	s := start(t, func(c *proxy.Config) { withCache(t, c) })
	secure := startOn(t, certificate(t), nil)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://a"+fetchOf("http://"+o.addr+"/h2"), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Te", "trailers")
	response, err := secure.client2(t, "a").RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body := text(t, response); body != "ok" || len(response.Trailer) > 0 {
		t.Errorf("by HTTP/2: %q %v", body, response.Trailer)
	}
	for range 2 {
		answer, broken := s.octets(t, "GET "+fetchOf("http://"+o.addr+"/")+" HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE, close\r\n\r\n")
		if broken || !strings.HasPrefix(answer, "HTTP/1.1 200 OK\r\n") || !strings.Contains(answer, "ok") {
			t.Errorf("%q", answer)
		}
		for _, forbidden := range []string{"103", "Set-Cookie", "Link", "script-src", "Trailer", "X-Unannounced"} {
			if strings.Contains(answer, forbidden) {
				t.Errorf("%s in %q", forbidden, answer)
			}
		}
		if te := field(o.last(), "TE"); len(te) > 0 {
			t.Errorf("the origin is asked for trailers: %q", te)
		}
	}
}

// No shared cache keeps what those get who may use the proxy, and no other field of urnd is lost.
func TestFetchedIsPrivate(t *testing.T) {
	for sent, want := range map[string]string{
		"":                            "private",
		"public, max-age=60":          "private, max-age=60",
		"S-MaxAge=9, max-age=60":      "private, max-age=60",
		`private="Set-Cookie", a="b"`: "private, a=b",
		`no-cache="X, public"`:        `private, no-cache="X, public"`,
		"no-store":                    "private, no-store",
	} {
		origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if sent != "" {
				w.Header().Set("Cache-Control", sent)
			}
			w.Header().Set("X-Request-Id", "0123456789abcdef0123456789abcdef")
			w.Header().Set("Etag", `"1"`)
			w.WriteHeader(http.StatusOK)
		}))
		s := start(t, func(c *proxy.Config) { withCache(t, c); c.Identify = true })
		for _, condition := range []string{"X: 1", `If-None-Match: "1"`} {
			header := s.get(t, fetchOf(origin.URL+"/"), condition).Header
			if got := header.Get("Cache-Control"); got != want {
				t.Errorf("%q, %s: %q, want %q", sent, condition, got, want)
			}
			if id := header["X-Request-Id"]; len(id) != 1 || strings.HasPrefix(id[0], "0123456789") {
				t.Errorf("X-Request-Id: %q", id)
			}
			if header.Get("Cross-Origin-Resource-Policy") != "same-origin" || header.Get("Via") == "" {
				t.Errorf("%q", header)
			}
		}
		origin.Close()
	}
}

// Statuses that would not mean the same as those of this server.
func TestFetchedStatuses(t *testing.T) {
	var sent atomic.Value
	o := answering(t, func(string) string { return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: 2\r\n\r\nno", sent.Load()) })
	s := start(t, nil)
	base := "http://" + o.addr + "/"
	for _, tt := range []struct {
		sent, location string // "" for none
		status         int
	}{
		{"401 Who?\r\nWWW-Authenticate: Basic realm=a", "", 403}, // RFC 9110 section 15.5.2
		{"407 Who?\r\nProxy-Authenticate: Basic realm=a", "", 502},
		{"404 No", "", 404},
		{"302 Found\r\nLocation: /there", base + "there", 302},
		{"302 Found\r\nLocation: /café x", base + "caf%C3%A9%20x", 302},
		{"301 Moved\r\nLocation: gopher://b.example/1", "gopher://b.example/1&led", 301},
		{"302 Found\r\nLocation: urn:example:a", "urn:example:a&led", 302},
		{"302 Found\r\nLocation: http://[", "", 502},
		{"302 Found\r\nLocation: http://", "", 502},
		{"302 Found", "", 302},
		{"201 Created\r\nLocation: http://[", "", 201},
	} {
		sent.Store(tt.sent)
		response := s.get(t, fetchOf(base))
		header, location := response.Header, ""
		if tt.location != "" {
			location = fetchOf(strings.TrimSuffix(tt.location, "&led")) + strings.Repeat("&led", strings.Count(tt.location, "&led"))
		}
		if response.StatusCode != tt.status || header.Get("Location") != location || header.Get("Www-Authenticate")+header.Get("Proxy-Authenticate") != "" {
			t.Errorf("%q: %d %v\n%s", tt.sent, response.StatusCode, header, text(t, response))
		}
	}
}

// The content of a GET has no meaning (RFC 9110 section 9.3.1), and is not passed on with what urnd asks in its own name.
func TestFetchedWithoutContent(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	s := start(t, nil)
	for _, content := range []string{
		"Content-Length: 4\r\n\r\nbody", "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
		"Content-Length: 4\r\nExpect: 100-continue\r\n\r\nbody",
	} {
		answer, _ := s.octets(t, "GET "+fetchOf("http://"+o.addr+"/")+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+content)
		if !strings.HasPrefix(answer, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(answer, "\r\n\r\nok") {
			t.Errorf("%q", answer)
		}
		if got := o.last(); strings.Contains(got, "body") || len(field(got, "Content-Length"))+len(field(got, "Transfer-Encoding")) > 0 {
			t.Errorf("%q", got)
		}
	}
}

// HEAD, ranges and conditions work as they do for the origin, whether what is fetched is stored or not.
func TestFetchedParts(t *testing.T) {
	const content = "0123456789"
	modified := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Etag", `"1"`)
		http.ServeContent(w, r, "", modified, strings.NewReader(content))
	}))
	defer origin.Close()
	passed := start(t, nil)
	stored := start(t, func(c *proxy.Config) { withCache(t, c) })
	for _, tt := range []struct {
		method, field string
		status        int
		body, ranged  string
		length        int64
	}{
		{"HEAD", "X: 1", 200, "", "", 10},
		{"GET", "X: 1", 200, content, "", 10},
		{"HEAD", "X: 1", 200, "", "", 10},
		{"GET", "Range: bytes=2-4", 206, "234", "bytes 2-4/10", 3},
		{"GET", "Range: bytes=2-4\r\nIf-Range: \"1\"", 206, "234", "bytes 2-4/10", 3},
		{"GET", "Range: bytes=2-4\r\nIf-Range: \"2\"", 200, content, "", 10},
		{"GET", "Range: bytes=20-", 416, "*", "bytes */10", -1},
		{"GET", `If-None-Match: "1"`, 304, "", "", -1},
		{"HEAD", `If-None-Match: "1"`, 304, "", "", -1},
		{"GET", `If-None-Match: "2"`, 200, content, "", 10},
		{"GET", "If-Modified-Since: " + modified.Format(http.TimeFormat), 304, "", "", -1},
		{"GET", `If-Match: "2"`, 412, "*", "", -1},
	} {
		for name, s := range map[string]*server{"passed": passed, "stored": stored} {
			response := s.ask(t, tt.method+" "+fetchOf(origin.URL+"/")+" HTTP/1.1\r\nHost: a\r\n"+tt.field+"\r\n\r\n")[0]
			body, header := text(t, response), response.Header
			if response.StatusCode != tt.status || tt.body != "*" && body != tt.body || header.Get("Content-Range") != tt.ranged ||
				tt.length >= 0 && response.ContentLength != tt.length || !strings.HasPrefix(header.Get("Content-Security-Policy"),
				"sandbox; default-src 'none'") || !strings.HasPrefix(header.Get("Cache-Control"), "private") {
				t.Errorf("%s: %s %s: %d %q %v", name, tt.method, tt.field, response.StatusCode, body, header)
			}
			if tt.status < 400 && header.Get("Etag") != `"1"` {
				t.Errorf("%s: %s %s: Etag %q", name, tt.method, tt.field, header.Get("Etag"))
			}
		}
	}
}
