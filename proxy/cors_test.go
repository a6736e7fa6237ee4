package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer"
)

// Pages of other origins may read public responses, also redirects of names, but not those about URLs, and
// not resources.
func TestCORS(t *testing.T) {
	s := start(t, func(c *proxy.Config) { c.CORS = []string{"https://a.example"} })
	all := start(t, func(c *proxy.Config) { c.CORS, c.Access.Resolve = []string{"*"}, prefixes("0.0.0.0/0") })
	for target, shared := range map[string]bool{
		"/api/v1/resolve?uri=urn:a1:b": true, "/api/v1/explain?uri=urn:a1:b": true, "/uri-res/N2C?urn:a1:b": true,
		"/uri-res/I2Ls?urn:a1:b":    true,
		"/api/v1/openapi.json":      true,
		"/api/v1/resolve?uri=urn:a": true, // pages must be able to read the reason
		"/urn:a1:b":                 true, "/uri-res/N2L?urn:a1:b": true, "/": false,
		"/api/v1/resolve?uri=http://a.example/": false, "/uri-res/N2R?urn:a1:b": false,
	} {
		for origin, want := range map[string]string{
			"https://a.example": "https://a.example", "https://b.example": "",
			"null": "",
		} {
			if !shared {
				want = ""
			}
			got := s.get(t, target, "Origin: "+origin).Header
			if got.Get("Access-Control-Allow-Origin") != want ||
				want != "" && !strings.Contains(strings.Join(got["Vary"], ", "), "Origin") {
				t.Errorf("%s from %s: %v", target, origin, got)
			}
		}
		if got := all.get(t, target,
			"Origin: https://b.example").Header.Get("Access-Control-Allow-Origin"); (got == "*") != shared {
			t.Errorf("%s from any: %q", target, got)
		}
	}
	if got := s.get(t, "/api/v1/resolve?uri=urn:a1:b").Header; got.Get("Access-Control-Allow-Origin") != "" ||
		!strings.Contains(strings.Join(got["Vary"], ", "), "Origin") {
		t.Errorf("without Origin: %v", got)
	}
	if got := all.get(t, "/api/v1/resolve?uri=http://10.0.0.1/",
		"Origin: https://b.example").Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("a URL, by the right of an address: %q", got)
	}
	private := start(t, func(c *proxy.Config) { c.CORS, c.Access.Resolve = []string{"*"}, prefixes("127.0.0.0/8") })
	if got := private.get(t, "/api/v1/resolve?uri=urn:a1:b",
		"Origin: https://b.example").Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("where not everybody may resolve names: %q", got)
	}
	preflight := "OPTIONS /api/v1/resolve HTTP/1.1\r\nHost: a\r\nOrigin: " +
		"https://a.example\r\nAccess-Control-Request-Method: POST\r\n\r\n"
	response := s.ask(t, preflight)[0]
	if response.StatusCode != http.StatusNoContent ||
		response.Header.Get("Access-Control-Allow-Methods") != "GET, HEAD, POST" ||
		response.Header.Get("Access-Control-Allow-Origin") != "https://a.example" {
		t.Errorf("a preflight: %d %v", response.StatusCode, response.Header)
	}
	for _, refused := range []string{
		strings.Replace(preflight, "a.example", "b.example", 1),
		strings.Replace(preflight, "Origin", "X", 1),
	} {
		if response := s.ask(t, refused)[0]; response.StatusCode == http.StatusNoContent {
			t.Errorf("%.40s: allowed", refused)
		}
	}
}

// Fixed documents, and the well-known paths that browsers and crawlers request.
func TestStaticDocuments(t *testing.T) {
	s := start(t, func(c *proxy.Config) { c.SecurityContact = "mailto:security@a.example" })
	for target, part := range map[string]string{
		"/api/v1/openapi.json": `"openapi"`, "/robots.txt": "Disallow: /", "/favicon.ico": "\x00\x00\x01\x00",
		"/.well-known/security.txt": "Contact: mailto:security@a.example\nExpires: ",
	} {
		if response := s.get(t, target); response.StatusCode != http.StatusOK || !strings.Contains(text(t, response),
			part) || response.Header.Get("Cache-Control") != "max-age=3600" {
			t.Errorf("%s: %d %v", target, response.StatusCode, response.Header)
		}
	}
	etag := s.get(t, "/robots.txt").Header.Get("Etag")
	if response := s.get(t, "/robots.txt", "If-None-Match: "+etag); response.StatusCode != http.StatusNotModified {
		t.Errorf("with its own ETag: %d", response.StatusCode)
	}
	if response := start(t, nil).get(t, "/.well-known/security.txt"); response.StatusCode != http.StatusNotFound {
		t.Errorf("without a contact: %d", response.StatusCode)
	}
}

// The PAC file is served to all clients without a login, and by the host name that browsers look for.
func TestPAC(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.PAC = answer.PAC{Proxies: []string{"proxy.example:8141"}}
		c.Access.Users, c.Access.Resolve, c.Access.Proxy = users(t, hashed(t, "alice", "a")), nil, nil
	})
	for _, target := range []string{"/proxy.pac", "/wpad.dat"} {
		response := s.ask(t, "GET "+target+" HTTP/1.1\r\nHost: wpad.example\r\n\r\n")[0]
		if response.StatusCode != http.StatusOK ||
			response.Header.Get("Content-Type") != "application/x-ns-proxy-autoconfig" || !strings.Contains(text(t,
			response), `"PROXY proxy.example:8141"`) {
			t.Errorf("%s: %d %v", target, response.StatusCode, response.Header)
		}
	}
	if got := start(t, nil).get(t, "/proxy.pac").StatusCode; got != http.StatusNotFound {
		t.Errorf("without proxies: %d", got)
	}
}

// Requests without TLS are redirected to https if the configuration says so.
func TestRedirectToTLS(t *testing.T) {
	s := start(t, func(c *proxy.Config) { c.RedirectTLS, c.TLSPort = true, "8443" })
	response := s.ask(t, "GET /urn:a1:b?+r HTTP/1.1\r\nHost: a.example:8141\r\n\r\n")[0]
	if got := response.Header.Get("Location"); response.StatusCode != http.StatusPermanentRedirect ||
		got != "https://a.example:8443/urn:a1:b?+r" {
		t.Errorf("%d %s", response.StatusCode, got)
	}
	trusted := start(t, func(c *proxy.Config) { c.RedirectTLS, c.Access.Trusted = true, prefixes("127.0.0.0/8") })
	if response := trusted.get(t, "/urn:a1:b"); response.StatusCode != http.StatusFound {
		t.Errorf("behind a trusted proxy: %d", response.StatusCode)
	}
}
