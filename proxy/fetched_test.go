package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy"
)

func fetchOf(u string) string { return "/fetch?uri=" + url.QueryEscape(u) }

// Interim responses and trailers have fields, too (RFC 9110 sections 6.5 and 15.2), which would appear as
// those of this server: /fetch drops them.
func TestFetchedWithoutInterimResponsesAndTrailers(t *testing.T) {
	o := always(t,
		"HTTP/1.1 103 Early Hints\r\nSet-Cookie: a=b\r\nLink: </style>; rel=preload\r\nContent-Security-Policy: "+
			"script-src *\r\n\r\n"+
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Set-Cookie\r\n\r\n2\r\nok\r\n0\r\nSet-Cookie: "+
			"a=b\r\nX-Unannounced: 1\r\n\r\n")
	s := start(t, func(c *proxy.Config) { withCache(t, c) })
	secure := startOn(t, certificate(t), nil)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://a"+fetchOf("http://"+o.addr+"/h2"),
		http.NoBody)
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
		answer, broken := s.bytes(t,
			"GET "+fetchOf("http://"+o.addr+"/")+
				" HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE, close\r\n\r\n")
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

// The content of a GET has no meaning (RFC 9110 section 9.3.1), and is not forwarded with a request of urnd's own.
func TestFetchedWithoutContent(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	s := start(t, nil)
	for _, content := range []string{
		"Content-Length: 4\r\n\r\nbody", "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
		"Content-Length: 4\r\nExpect: 100-continue\r\n\r\nbody",
	} {
		answer, _ := s.bytes(t, "GET "+fetchOf("http://"+o.addr+"/")+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+
			content)
		if !strings.HasPrefix(answer, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(answer, "\r\n\r\nok") {
			t.Errorf("%q", answer)
		}
		if got := o.last(); strings.Contains(got, "body") ||
			len(field(got, "Content-Length"))+len(field(got, "Transfer-Encoding")) > 0 {
			t.Errorf("%q", got)
		}
	}
}

// HEAD, ranges and conditions work as at the origin, whether the fetched resource is stored or not.
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
			response := s.ask(t, tt.method+" "+fetchOf(origin.URL+"/")+" HTTP/1.1\r\nHost: a\r\n"+tt.field+
				"\r\n\r\n")[0]
			body, header := text(t, response), response.Header
			if response.StatusCode != tt.status || tt.body != "*" && body != tt.body ||
				header.Get("Content-Range") != tt.ranged ||
				tt.length >= 0 && response.ContentLength != tt.length ||
				!strings.HasPrefix(header.Get("Content-Security-Policy"),
					"sandbox; default-src 'none'") || !strings.HasPrefix(header.Get("Cache-Control"), "private") {
				t.Errorf("%s: %s %s: %d %q %v", name, tt.method, tt.field, response.StatusCode, body, header)
			}
			if tt.status < 400 && header.Get("Etag") != `"1"` {
				t.Errorf("%s: %s %s: Etag %q", name, tt.method, tt.field, header.Get("Etag"))
			}
		}
	}
}
