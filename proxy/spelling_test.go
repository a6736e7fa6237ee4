package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// siteAt returns www.example at some servers; failures are their recorded failures, nil for none.
func siteAt(t testing.TB, failures *forward.Failures, urls ...string) proxy.Site {
	t.Helper()
	config := balance.Config{Now: time.Now}
	if failures != nil {
		config.Failing = failures.Failing
	}
	for _, url := range urls {
		u, err := uri.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		config.Servers = append(config.Servers, balance.Server{URL: u})
	}
	return proxy.Site{Route: route.Site{Host: "www.example"}, Site: forward.Site{Pool: balance.New(config)}}
}

// The configured spelling is forwarded, and responses are shared between requests that are forwarded with
// equal spelling (RFC 3986 section 6).
func TestSpelling(t *testing.T) {
	for _, tt := range []struct {
		spelling route.Spelling
		sent     string // for /a/../%7eb%2f?%41
	}{
		{route.SpellingNormal, "/~b%2F?A"},
		{route.SpellingExact, "/a/../%7eb%2f?%41"},
		{route.SpellingRedirect, ""},
	} {
		o := always(t, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok")
		s := start(t, func(c *proxy.Config) { withCache(t, c); c.Spelling = tt.spelling })
		odd, normal := "HTTP://"+o.addr+"/a/../%7eb%2f?%41#f", "http://"+o.addr+"/~b%2F?A"
		for _, method := range []string{"GET", "HEAD"} {
			response := s.ask(t, method+" "+odd+" HTTP/1.1\r\nHost: a\r\n\r\n")[0]
			if tt.spelling == route.SpellingRedirect {
				if response.StatusCode != http.StatusPermanentRedirect || response.Header.Get("Location") != normal ||
					response.Header.Get("Cache-Control") != "max-age=3600" {
					t.Errorf("%s: %d %v", method, response.StatusCode, response.Header)
				}
			} else if response.StatusCode != 200 || !strings.HasPrefix(o.last(), "GET "+tt.sent+" HTTP/1.1\r\n") {
				t.Errorf("%d: %d, %.60q", tt.spelling, response.StatusCode, o.last())
			}
		}
		others := []string{normal, "http://" + o.addr + "/%7Eb%2f?A", "http://" + o.addr + "/./~b%2F?%41"}
		for _, target := range append(others, others...) {
			response := s.get(t, target)
			if tt.spelling == route.SpellingNormal &&
				!strings.Contains(response.Header.Get("Cache-Status"), "urnd; hit") {
				t.Errorf("%d, %s: %s", tt.spelling, target, response.Header.Get("Cache-Status"))
			}
		}
		want := map[route.Spelling]int{
			route.SpellingNormal: 1, route.SpellingExact: 4,
			route.SpellingRedirect: 1,
		}[tt.spelling]
		if got := len(o.requests()); got != want {
			t.Errorf("%d: %d requests", tt.spelling, got)
		}
		line := "POST /~b%2F?A HTTP/1.1\r\n"
		if tt.spelling == route.SpellingExact {
			line = "POST /a/../%7eb%2f?%41 HTTP/1.1\r\n"
		}
		if s.ask(t, "POST "+odd+" HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"); !strings.HasPrefix(o.last(),
			line) {
			t.Errorf("%d: %.60q", tt.spelling, o.last())
		}
	}
}

// OPTIONS for a server as a whole is sent in asterisk-form (RFC 9112 section 3.2.4).
func TestAsterisk(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	for _, spelling := range []route.Spelling{route.SpellingNormal, route.SpellingExact, route.SpellingRedirect} {
		s := start(t, func(c *proxy.Config) { c.Spelling = spelling })
		for target, line := range map[string]string{
			"": "OPTIONS * HTTP/1.1", "/": "OPTIONS / HTTP/1.1",
			"?": "OPTIONS /? HTTP/1.1", "/a": "OPTIONS /a HTTP/1.1",
		} {
			s.ask(t, "OPTIONS http://"+o.addr+target+" HTTP/1.1\r\nHost: a\r\n\r\n")
			if got, _, _ := strings.Cut(o.last(), "\r\n"); got != line {
				t.Errorf("%q is sent as %q", target, got)
			}
		}
	}
}
