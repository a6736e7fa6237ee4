package proxy_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/upstream"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// An upstream proxy does not circumvent a rule about destinations, although their addresses are unknown behind it.
func TestDestinationsBehindUpstream(t *testing.T) {
	up := always(t, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok")
	for name, rules := range map[string][]policy.Rule{
		"only some": {
			{ID: "some", Destinations: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}},
			{ID: "rest", Deny: true},
		},
		"not some": {{ID: "some", Deny: true, Destinations: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}},
	} {
		s, _, _ := ruled(t, policy.ModeEnforce, rules, func(c *proxy.Config) {
			withCache(t, c)
			c.Fetch = fetchingBy(t, func(h *schemehttp.Config) {
				h.Upstream = routeVia(t, up.addr)
			})
		})
		if got := s.get(t, "http://a.example/").StatusCode; got != 403 {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// fetchingBy is an HTTP client for origins, with other settings.
func fetchingBy(t testing.TB, change func(*schemehttp.Config)) scheme.Handler {
	t.Helper()
	config := schemehttp.Config{
		Dial: new(net.Dialer).DialContext, HeaderTimeout: testserver.Timeout, MaxIdle: 4,
		Now: time.Now,
	}
	change(&config)
	fetch := schemehttp.New(config)
	t.Cleanup(fetch.Close)
	return scheme.Mux{"http": fetch}
}

// routeVia returns a route through one upstream proxy.
func routeVia(t *testing.T, address string) func(uri.URI) schemehttp.Route {
	t.Helper()
	url, err := uri.Parse("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	selector, err := upstream.New(upstream.Config{Now: time.Now, Rules: []upstream.Rule{{
		Servers: []upstream.Server{{URL: url, Upstream: &schemehttp.Upstream{Scheme: "http", Address: address}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return selector.Route
}
