package proxy_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/resolver"
)

// Package gate tests the rights of clients; these tests check that the gate is called for each request, with
// the client that the request names.

func prefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// testClock is a clock that a test advances.
type testClock struct{ nanoseconds atomic.Int64 }

func (c *testClock) now() time.Time          { return time.Unix(1_800_000_000, c.nanoseconds.Load()) }
func (c *testClock) advance(d time.Duration) { c.nanoseconds.Add(int64(d)) }

// hashed returns the line of a user in a password file.
func hashed(t testing.TB, name, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return name + ":" + string(hash) + "\n"
}

func users(t testing.TB, lines ...string) *gate.Users {
	t.Helper()
	u, err := gate.ParseUsers([]byte(strings.Join(lines, "")))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func basic(userinfo string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(userinfo))
}

// Requests of all forms are admitted by the client that a trusted proxy names. An error response names the
// setting that denied the request.
func TestAccess(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.Access = gate.Access{
			Resolve: prefixes("198.51.100.0/24", "203.0.113.0/24"), Proxy: prefixes("203.0.113.0/24"),
			Trusted: prefixes("127.0.0.0/8"),
		}
	})
	forward := "http://" + origin(t) + "/"
	const ok, noProxy, noNames = "", "access.proxy_clients", "access.resolve_clients"
	for _, tt := range []struct {
		client, target string
		status         int
		message        string
	}{
		{"203.0.113.1", "/urn:example:a", 302, ok},
		{"203.0.113.1", "/http://a.example/", 302, ok},
		{"203.0.113.1", forward, http.StatusTeapot, ok},
		{"198.51.100.1", "/", 200, ok},
		{"198.51.100.1", "/uri-res/N2R?urn:example:a", 403, noProxy},
		{"198.51.100.1", "/http://a.example/", 403, noProxy},
		{"198.51.100.1", forward, 403, noProxy},
		{"198.51.100.1", "/fetch?uri=urn:example:a", 403, noProxy},
		{"192.0.2.1", "/urn:example:a", 403, noNames},
		{"192.0.2.1", "/nothing", 403, noNames},
		{"192.0.2.1", "/", 403, noNames},
		{"192.0.2.1", forward, 403, noProxy},
		{"unknown", "/urn:example:a", 403, noNames},
		{"unknown", forward, 403, noProxy},
	} {
		response := s.get(t, tt.target, "X-Forwarded-For: 203.0.113.7, "+tt.client)
		if body := text(t, response); response.StatusCode != tt.status || !strings.Contains(body, tt.message) {
			t.Errorf("%s of %s: %d %s", tt.target, tt.client, response.StatusCode, body)
		}
	}
	for _, request := range []string{
		"POST /api/v1/resolve HTTP/1.1\r\nHost: a\r\nContent-Length: 18\r\nForwarded: " +
			"for=%\r\n\r\n[\"urn:example:a\"]\n",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\nForwarded: for=%\r\n\r\n",
	} {
		for client, status := range map[string]int{"198.51.100.1": 200, "192.0.2.1": 403} {
			if got := s.ask(t, strings.ReplaceAll(request, "%", client))[0].StatusCode; got != status {
				t.Errorf("%.12s of %s: %d", request, client, got)
			}
		}
	}
}

// A client with the right to do so can bypass the cache: the resolver gets the directive.
func TestNoCache(t *testing.T) {
	for clients, want := range map[string]bool{"127.0.0.0/8": true, "192.0.2.0/24": false} {
		s := start(t, func(c *proxy.Config) { c.Access.BypassCache = prefixes(clients) })
		var fresh bool
		s.next = func(ctx context.Context, _ resolver.Query) (resolver.Answer, error) {
			fresh = resolver.BypassesCache(ctx)
			return resolver.Answer{Locations: resolver.Locations{{URI: "http://a.example/", From: &resolver.Source{}}}},
				nil
		}
		if s.get(t, "/urn:example:a", "Cache-Control: no-cache"); fresh != want {
			t.Errorf("%s may: fresh %t", clients, fresh)
		}
		if s.get(t, "/urn:example:a"); fresh {
			t.Errorf("%s may: fresh, without Cache-Control: no-cache", clients)
		}
	}
}

// A client that exceeds its rate gets a Retry-After (RFC 6585 section 4).
func TestRate(t *testing.T) {
	var clock testClock
	s := start(t, func(c *proxy.Config) { c.Access.Rate, c.Now = 1, clock.now })
	for _, target := range []string{"/urn:example:a", "/", "http://" + origin(t) + "/"} {
		if got := s.get(t, target).StatusCode; got >= 400 && got != http.StatusTeapot {
			t.Errorf("%s: %d", target, got)
		}
		response := s.get(t, target)
		if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") != "1" ||
			response.Header.Get("Cache-Control") != "no-store" ||
			!strings.Contains(text(t, response), "limits.rate") {
			t.Errorf("%s once more: %d %v", target, response.StatusCode, response.Header)
		}
		clock.advance(time.Second)
	}
}

// The forward proxy requests a password by 407, and urnd as an origin by 401 (RFC 9110 sections 11.6 and
// 11.7). Names need no password. No password is forwarded.
func TestLogin(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q %q", r.Header["Proxy-Authorization"], r.Header["Authorization"])
	}))
	t.Cleanup(origin.Close)
	s := start(t, func(c *proxy.Config) {
		var clock testClock
		c.Now = func() time.Time { clock.advance(time.Minute); return clock.now() } // no guess comes too soon
		c.Access.Users = users(t, hashed(t, "alice", "a:b"))
	})
	s.next = withLocations(origin.URL + "/")
	forward := []string{origin.URL + "/", "http://a.invalid/", "ftp://a.example/"}
	own := []string{
		"/http://a.example/", "/?uri=http://a.example/", "/uri-res/N2R?urn:example:a", "/uri-res/N2Rs?urn:example:a",
		"/api/v1/resolve?uri=http://a.example/", "/fetch?uri=" + origin.URL + "/",
	}
	right := basic("alice:a:b")
	for _, wrong := range []string{"", basic("alice:b")} {
		for _, target := range forward {
			response := s.get(t, target, "Proxy-Authorization: "+wrong, "Authorization: "+right)
			if response.StatusCode != 407 ||
				!strings.HasPrefix(response.Header.Get("Proxy-Authenticate"), `Basic realm="`) ||
				response.Header.Get("WWW-Authenticate") != "" ||
				!strings.Contains(text(t, response), "access.proxy_users") {
				t.Errorf("%s with %q: %d %v", target, wrong, response.StatusCode, response.Header)
			}
		}
		for _, target := range own {
			response := s.get(t, target, "Authorization: "+wrong, "Proxy-Authorization: "+right)
			if response.StatusCode != 401 ||
				!strings.HasPrefix(response.Header.Get("WWW-Authenticate"), `Basic realm="`) ||
				response.Header.Get("Proxy-Authenticate") != "" ||
				!strings.Contains(text(t, response), "access.proxy_users") {
				t.Errorf("%s with %q: %d %v", target, wrong, response.StatusCode, response.Header)
			}
		}
	}
	if got := text(t, s.get(t, origin.URL+"/", "Proxy-Authorization: "+right,
		"Authorization: for the origin")); got != `[] ["for the origin"]` {
		t.Errorf("the origin sees %s", got)
	}
	for _, target := range own {
		if response := s.get(t, target, "Authorization: "+right); response.StatusCode >= 400 {
			t.Errorf("%s: %d", target, response.StatusCode)
		}
	}
	if got := text(t, s.get(t, "/uri-res/N2R?urn:example:a", "Authorization: "+right,
		"Proxy-Authorization: "+right)); got != "[] []" {
		t.Errorf("a fetch for a client shows its password: %s", got)
	}
	for target, status := range map[string]int{
		"/urn:example:a": 302, "/uri-res/N2L?urn:example:a": 303, "/": 200,
		"/api/v1/resolve?uri=urn:example:a": 200,
	} {
		if got := s.get(t, target, "Authorization: "+basic("mallory:m")).StatusCode; got != status {
			t.Errorf("%s: %d", target, got)
		}
	}
}
