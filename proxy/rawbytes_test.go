package proxy_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/route"
)

// rawTargets are paths and queries with raw bytes, as programs send them, and their normal form (RFC 3986
// sections 2.1 and 6.2.2).
var rawTargets = []struct{ raw, normal string }{
	{"/?a[]=1", "/?a%5B%5D=1"},
	{"/?filter[name]=x", "/?filter%5Bname%5D=x"},
	{"/?family=A|B", "/?family=A%7CB"},
	{"/100%", "/100%25"},
	{"/%", "/%25"},
	{"/%4?%zz%", "/%254?%25zz%25"},
	{"/%%41", "/%25A"},
	{"/[]{}|^\\`\"<>?[]{}|^\\`\"<>", "/%5B%5D%7B%7D%7C%5E%5C%60%22%3C%3E?%5B%5D%7B%7D%7C%5E%5C%60%22%3C%3E"},
	{"/Bücher?ü=日本", "/B%C3%BCcher?%C3%BC=%E6%97%A5%E6%9C%AC"},
	{"/\xe4", "/%E4"},
	{"/a/../b[", "/b%5B"},
	{"/a/%2e%2E/b", "/b"},
	{"/a/..\\b", "/a/..%5Cb"},
	{"//a//b", "//a//b"},
	{"/a%2fb%5c", "/a%2Fb%5C"},
}

// cacheable answers with the request line, in a cacheable response.
func cacheable(t *testing.T) *peer {
	t.Helper()
	return answering(t, func(request string) string {
		line, _, _ := strings.Cut(request, "\r\n")
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Type: "+
			"text/plain\r\nContent-Length: %d\r\n\r\n%s", len(line), line)
	})
}

func isHit(r *http.Response) bool { return strings.Contains(r.Header.Get("Cache-Status"), "; hit") }

// The forwarded target equals that of the key (RFC 9110 sections 4.2.3 and 7.7).
func TestRawBytes(t *testing.T) {
	for _, spelling := range []route.Spelling{route.SpellingNormal, route.SpellingExact} {
		o := cacheable(t)
		forms := map[string]func(target string) *http.Response{}
		forwarding := start(t, func(c *proxy.Config) { withCache(t, c); c.Spelling = spelling })
		forms["absolute-form"] = func(target string) *http.Response {
			return forwarding.get(t, "http://"+o.addr+target)
		}
		gateway := site(t, []string{o.addr}, func(c *proxy.Config) { c.Sites[0].Route.Spelling = spelling })
		forms["a site"] = func(target string) *http.Response { return gateway.visit(t, "GET", target, "www.example") }
		forms["a site in absolute-form"] = func(target string) *http.Response {
			return gateway.visit(t, "GET", "http://www.example"+target, "www.example")
		}
		fetching := start(t, func(c *proxy.Config) { withCache(t, c); c.Spelling = spelling })
		forms["/fetch"] = func(target string) *http.Response {
			return fetching.get(t, "/fetch?uri="+url.QueryEscape("http://"+o.addr+target))
		}
		for name, get := range forms {
			for _, tt := range rawTargets {
				want := "GET " + tt.normal + " HTTP/1.1"
				if spelling == route.SpellingExact {
					want = "GET " + tt.raw + " HTTP/1.1"
				}
				if r := get(tt.raw); r.StatusCode != http.StatusOK || text(t, r) != want {
					t.Errorf("%d, %s, %q: %d, not %q", spelling, name, tt.raw, r.StatusCode, want)
					continue
				}
				testserver.Wait(t, "what was sent is stored", func() bool {
					r := get(tt.raw)
					return text(t, r) == want && isHit(r)
				})
				if r := get(tt.normal); text(t, r) != "GET "+tt.normal+" HTTP/1.1" {
					t.Errorf("%d, %s: after %q the answer to %q is that to another", spelling, name, tt.raw, tt.normal)
				}
			}
		}
	}
}

// URLs after the slash, and those of services, are redirected to in normal form.
func TestRawBytesAfterTheSlash(t *testing.T) {
	s := start(t, nil)
	for _, tt := range rawTargets {
		for _, form := range []string{"/http://a.example", "/uri-res/N2L?http://a.example"} {
			r := s.get(t, form+tt.raw)
			if got := r.Header.Get("Location"); r.StatusCode/100 != 3 || got != "http://a.example"+tt.normal {
				t.Errorf("%q: %d %q", form+tt.raw, r.StatusCode, got)
			}
		}
	}
	redirecting := start(t, func(c *proxy.Config) { c.Spelling = route.SpellingRedirect })
	for _, tt := range rawTargets {
		if tt.raw == tt.normal {
			continue
		}
		if r := redirecting.get(t,
			"http://a.example"+tt.raw); r.StatusCode != http.StatusPermanentRedirect ||
			r.Header.Get("Location") != "http://a.example"+tt.normal {
			t.Errorf("%q: %d %q", tt.raw, r.StatusCode, r.Header.Get("Location"))
		}
	}
	secured := start(t, func(c *proxy.Config) { c.RedirectTLS = true })
	for target, want := range map[string]string{
		"/http://a/?x[]=1": "/http://a/?x%5B%5D=1",
		"/http://a/100%":   "/http://a/100%25", "/urn:example:[": "",
	} {
		r := secured.get(t, target)
		if got := r.Header.Get("Location"); want != "" && !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("%q leads to %q by TLS", target, got)
		}
	}
}

// Bytes that could end a target, or name another server, are never forwarded (RFC 9112 sections 3.2 and 11.1).
func TestBytesNeverSent(t *testing.T) {
	o := cacheable(t)
	s := start(t, func(c *proxy.Config) {
		withSite(t, []string{o.addr}, func(c *proxy.Config) {
			c.Spelling, c.Sites[0].Route.Spelling = route.SpellingExact, route.SpellingExact
			c.Access.Proxy = []netip.Prefix{loopback}
		})(c)
	})
	for _, tail := range []string{"/a b", "/a\tb", "/a\rb", "/a\x00", "/a\x7f", "/a\x1f", "/?a b", "/?\x01"} {
		for _, target := range []string{"http://" + o.addr + tail, "http://www.example" + tail, tail} {
			answer, _ := s.bytes(t, "GET "+target+" HTTP/1.1\r\nHost: www.example\r\nConnection: close\r\n\r\n")
			if !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
				t.Errorf("%q: %.60q", target, answer)
			}
		}
	}
	for _, target := range []string{
		"http://" + o.addr + "\\@other.example/", "http://www.example\\.other.example/", "http://www[.example/",
		"http://www.example|/", "http:\\\\" + o.addr + "\\",
		"http://other.example%/", "http://\xfc.example/",
	} {
		answer, _ := s.bytes(t, "GET "+target+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
			t.Errorf("%q: %.60q", target, answer)
		}
	}
	if got := len(o.requests()); got != 0 {
		t.Errorf("%d requests were sent on: %.60q", got, o.last())
	}
	// A fragment is not part of the target (RFC 9110 section 4.2.5): neither of the key nor of the forwarded target.
	if r := s.visit(t, "GET", "/a[#b[", "www.example"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("a raw byte in a fragment: %d", r.StatusCode)
	}
	for _, target := range []string{"/a[#b", "http://www.example/a[#b", "http://www.example/a[#c"} {
		testserver.Wait(t, "what is stored is without the fragment", func() bool {
			r := s.visit(t, "GET", target, "www.example")
			if got := text(t, r); r.StatusCode != http.StatusOK || got != "GET /a[ HTTP/1.1" {
				t.Fatalf("%q: %d %q", target, r.StatusCode, got)
			}
			return isHit(r)
		})
	}
}

// By HTTP/2 all raw bytes are accepted, except a percent sign without hexadecimal digits in a path: such a
// stream is reset.
func TestRawBytesOverHTTP2(t *testing.T) {
	o := cacheable(t)
	s := startOn(t, certificate(t),
		withSite(t, []string{o.addr}, func(c *proxy.Config) { c.Sites[0].Route.Spelling = route.SpellingExact }))
	for _, tt := range rawTargets {
		path, _, _ := strings.Cut(tt.raw, "?")
		if _, err := url.PathUnescape(path); err != nil || strings.HasPrefix(tt.raw, "//") {
			continue
		}
		r, line := s.ask2(t, "GET", "https://www.example/", nil,
			func(r *http.Request) { r.URL.Opaque = "//www.example" + tt.raw })
		if r.ProtoMajor != 2 || r.StatusCode != http.StatusOK || line != "GET "+tt.raw+" HTTP/1.1" {
			t.Errorf("%q by %s: %d %q", tt.raw, r.Proto, r.StatusCode, line)
		}
	}
}

// A purge applies to all spellings of a URI.
func TestPurgeOfSpellings(t *testing.T) {
	o := cacheable(t)
	s := site(t, []string{o.addr}, func(c *proxy.Config) {
		c.Sites[0].Route.Spelling = route.SpellingExact
		c.Access.Purge = []netip.Prefix{loopback}
	})
	spellings := []string{"/b[", "/b%5B", "/b%5b", "/a/../b[", "/%62[", "/./b["}
	for _, purged := range spellings {
		for _, target := range spellings {
			testserver.Wait(t, "it is stored", func() bool { return isHit(s.visit(t, "GET", target, "www.example")) })
		}
		if r := s.visit(t, "PURGE", purged, "www.example"); r.StatusCode != http.StatusOK {
			t.Errorf("PURGE %s: %d", purged, r.StatusCode)
		}
		for _, target := range spellings {
			if isHit(s.visit(t, "GET", target, "www.example")) {
				t.Errorf("PURGE %s left %s", purged, target)
			}
		}
	}
}
