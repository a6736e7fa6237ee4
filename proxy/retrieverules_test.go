package proxy_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

func rules(t *testing.T, all ...policy.Rule) *policy.Policy {
	t.Helper()
	p, err := policy.New(policy.ModeEnforce, all)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Policy rules apply to the resources of names as to forwarded requests, at each redirect; and no server can
// redirect to a resource on this machine.
func TestRulesForResources(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}))
	defer origin.Close()
	s := start(t, func(c *proxy.Config) {
		withGopher(c)
		mux, _ := c.Fetch.(scheme.Mux)
		mux["file"], mux["news"], mux["ftp"] = mux["gopher"], mux["gopher"], mux["gopher"]
		guard := netguard.New(time.Second, loopback)
		web := schemehttp.New(schemehttp.Config{
			Dial: guard.DialContext, HeaderTimeout: 5 * time.Second, ContinueTimeout: time.Second, MaxIdle: 4,
			Now: time.Now,
			DialChecked: func(ctx context.Context, network, address string,
				check func(netip.AddrPort) error,
			) (net.Conn, error) {
				return guard.WithCheck(check).DialContext(ctx, network, address)
			},
		})
		t.Cleanup(web.Close)
		mux["http"] = web
		c.Policy = rules(t,
			policy.Rule{ID: "no-ftp", Deny: true, Schemes: []string{"ftp"}},
			policy.Rule{
				ID: "no-net", Deny: true, Destinations: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
				Ports: []policy.PortRange{{First: 1, Last: 80}},
			})
	})
	to := func(location string) string { return origin.URL + "/?to=" + url.QueryEscape(location) }
	for _, tt := range []struct {
		location string
		status   int
	}{
		{origin.URL + "/", 200},
		{"file:///0text", 200},
		{to(origin.URL + "/"), 200},
		{"ftp://a.example/0text", 403},
		{to("ftp://a.example/0text"), 403},
		{"http://127.0.0.1/", 403},
		{to("http://127.0.0.1:80/"), 403},
		{to("gopher://a.example/0text"), 403}, // the rules see it at 127.0.0.1 and port 70
		{to("file:///0text"), 403},
		{to("news:0text"), 403},
	} {
		s.next = withLocations(tt.location)
		for _, target := range []string{"/uri-res/N2R?urn:example:a", "/fetch?uri=urn:example:a"} {
			if response := s.get(t, target); response.StatusCode != tt.status {
				t.Errorf("%s at %s: %d, want %d: %s", target, tt.location, response.StatusCode, tt.status,
					text(t, response))
			}
		}
	}
}

// A rule about addresses also applies to a listing from the cache, and after 304.
func TestRulesForListings(t *testing.T) {
	store, err := memory.New(memory.Config[*httpcache.Entry]{MaxBytes: 1 << 20, Size: (*httpcache.Entry).Size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	var clock testClock
	for _, tt := range []struct {
		rules  []policy.Rule
		status int
	}{
		{[]policy.Rule{{
			ID: "no-metadata", Deny: true,
			Destinations: []netip.Prefix{netip.MustParsePrefix("169.254.0.0/16")},
		}}, 200},
		{[]policy.Rule{
			{ID: "ours", Destinations: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
			{ID: "default", Deny: true},
		}, 403},
	} {
		s := start(t, func(c *proxy.Config) {
			c.Policy, c.Now = rules(t, tt.rules...), clock.now
			c.Fetch, c.ListingTTL = scheme.Mux{
				"telnet": scheme.Gateway{Handler: handlerFunc(gopherMenu), Info: scheme.Info{Local: true}},
				"gopher": scheme.Gateway{Handler: handlerFunc(gopherMenu)},
			}, time.Minute
			c.Forward.Cache = httpcache.New(httpcache.Config{
				Now: clock.now, Store: store, MaxObject: 1 << 20,
				MaxArriving: 1 << 20,
				SameOrigin:  func(string, string) (string, bool) { return "", false },
			})
		})
		for range 4 {
			for _, target := range []string{"telnet://a.example/", "gopher://a.example/1"} {
				if response := s.get(t, target); response.StatusCode != tt.status {
					t.Errorf("%v: %s: %d: %s", tt.rules, target, response.StatusCode, text(t, response))
				}
			}
			clock.advance(40 * time.Second) // the second is fresh, the third is validated
		}
	}
}
