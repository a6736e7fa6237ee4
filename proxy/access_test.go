package proxy_test

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/resolver"
)

func prefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

func TestAccess(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.Access = gate.Access{
			Resolve: prefixes("198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"), Proxy: prefixes("203.0.113.0/24", "192.0.2.9/32"),
			Trusted: prefixes("127.0.0.0/8"),
		}
	})
	host := origin(t)
	forward := "http://" + host + "/"
	const ok, noProxy, noNames = "", "access.proxy_clients", "access.resolve_clients"
	for _, tt := range []struct {
		client, target string
		status         int
		says           string
	}{
		{"203.0.113.1", "/urn:example:a", 302, ok},
		{"203.0.113.1", "/http://a.example/", 302, ok},
		{"203.0.113.1", forward, http.StatusTeapot, ok},
		{"198.51.100.1", "/urn:example:a", 302, ok},
		{"2001:db8::1", "/urn:example:a", 302, ok},
		{"198.51.100.1", "/", 200, ok},
		{"198.51.100.1", "/uri-res/N2L?urn:example:a", 303, ok},
		{"198.51.100.1", "/api/v1/resolve?uri=urn:example:a", 200, ok},
		{"198.51.100.1", "/http://a.example/", 403, noProxy},
		{"198.51.100.1", "/?uri=http://a.example/", 403, noProxy},
		{"198.51.100.1", "/mailto:a@a.example", 403, noProxy},
		{"198.51.100.1", "mailto:a@a.example", 403, noProxy},
		{"198.51.100.1", "/uri-res/L2Ls?http://a.example/", 403, noProxy},
		{"198.51.100.1", "/uri-res/N2R?urn:example:a", 403, noProxy},
		{"198.51.100.1", "/uri-res/N2Rs?urn:example:a", 403, noProxy},
		{"198.51.100.1", "/api/v1/resolve?uri=http://a.example/", 403, noProxy},
		{"198.51.100.1", forward, 403, noProxy},
		{"198.51.100.1", "ftp://a.example/", 403, noProxy},
		{"192.0.2.1", "/urn:example:a", 403, noNames},
		{"192.0.2.1", "urn:example:a", 403, noNames},
		{"192.0.2.1", "/uri-res/N2L?urn:example:a", 403, noNames},
		{"192.0.2.1", "/api/v1/resolve?uri=urn:example:a", 403, noNames},
		{"192.0.2.1", "/http://a.example/", 403, noNames},
		{"192.0.2.1", "/nothing", 403, noNames},
		{"192.0.2.1", "/", 403, noNames},
		{"192.0.2.1", forward, 403, noProxy},
		{"2001:db9::1", "/urn:example:a", 403, noNames},
		{"192.0.2.9", forward, http.StatusTeapot, ok},
		{"192.0.2.9", "/urn:example:a", 403, noNames},
		{"192.0.2.9", "/http://a.example/", 403, noNames},
	} {
		response := s.get(t, tt.target, "X-Forwarded-For: 203.0.113.7, "+tt.client)
		if body := text(t, response); response.StatusCode != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%s of %s: %d %s", tt.target, tt.client, response.StatusCode, body)
		}
	}
	batch := "POST /api/v1/resolve HTTP/1.1\r\nHost: a\r\nContent-Length: 18\r\nForwarded: for=%\r\n\r\n[\"urn:example:a\"]\n"
	for client, status := range map[string]int{"198.51.100.1": 200, "192.0.2.1": 403} {
		if got := s.ask(t, strings.ReplaceAll(batch, "%", client))[0].StatusCode; got != status {
			t.Errorf("a batch of %s: %d", client, got)
		}
	}
}

// The zero value of Access denies everything.
func TestNoAccess(t *testing.T) {
	s := start(t, func(c *proxy.Config) { c.Access = gate.Access{} })
	for _, target := range []string{"/", "/urn:example:a", "/http://a.example/", "http://a.example/", "/uri-res/N2R?urn:example:a"} {
		if got := s.get(t, target).StatusCode; got != 403 {
			t.Errorf("%s: %d", target, got)
		}
	}
}

// A client that a trusted proxy does not name has not the rights of the proxy, but only
// those of all clients.
func TestUnknownClientsAreNotTheirProxy(t *testing.T) {
	forward := "http://" + origin(t) + "/"
	for name, field := range map[string]string{
		"unknown":       "X-Forwarded-For: unknown",
		"hidden":        "Forwarded: for=_hidden",
		"without for":   "Forwarded: proto=http",
		"empty":         "X-Forwarded-For: ",
		"fields differ": "X-Forwarded-For: 203.0.113.9\r\nForwarded: for=198.51.100.1",
		"one unknown":   "X-Forwarded-For: 203.0.113.9\r\nForwarded: for=unknown",
		"too many hops": "X-Forwarded-For: " + strings.Repeat("a,", 100) + "203.0.113.9",
	} {
		for resolve, status := range map[string]int{"127.0.0.0/8": 403, "0.0.0.0/0": 302} {
			s := start(t, func(c *proxy.Config) {
				c.Access.Trusted, c.Access.Resolve = prefixes("127.0.0.0/8"), prefixes(resolve)
			})
			if got := s.get(t, "/urn:example:a", field).StatusCode; got != status {
				t.Errorf("%s: a name, for %s alone: %d", name, resolve, got)
			}
			if got := s.get(t, "/http://a.example/", field).StatusCode; got != 403 {
				t.Errorf("%s: a redirect: %d", name, got)
			}
			if got := s.get(t, forward, field).StatusCode; got != 403 {
				t.Errorf("%s: the forward proxy: %d", name, got)
			}
		}
	}
}

// Only some clients may go around the caches by Cache-Control: no-cache.
func TestNoCache(t *testing.T) {
	var fresh bool
	for _, tt := range []struct {
		clients []netip.Prefix
		field   string
		want    bool
	}{
		{[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, "Cache-Control: no-cache", true},
		{[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, "Cache-Control: max-age=0", false},
		{[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, "Pragma: no-cache", true},
		{[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, "Pragma: no-cache\r\nCache-Control: max-age=0", false},
		{[]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, "Cache-Control: no-cache", false},
		{nil, "Cache-Control: no-cache", false},
	} {
		s := start(t, func(c *proxy.Config) { c.Access.Fresh = tt.clients })
		s.next = func(ctx context.Context, _ resolver.Query) (resolver.Answer, error) {
			fresh = resolver.IsFresh(ctx)
			return resolver.Answer{Locations: resolver.Locations{{URI: "http://a.example/", From: &resolver.Source{}}}}, nil
		}
		if s.get(t, "/urn:example:a", tt.field); fresh != tt.want {
			t.Errorf("%v, %s: fresh %t", tt.clients, tt.field, fresh)
		}
	}
}
