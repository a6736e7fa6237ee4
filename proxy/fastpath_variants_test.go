package proxy_test

import (
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// variant is a configuration under which both servers must be the same.
type variant struct {
	name      string
	change    func(*proxy.Config)
	serving   func(testing.TB, *listen.ServerConfig)
	client    netip.AddrPort // the zero value is one of this machine
	prefix    string         // what comes before the first packet
	secure    bool
	refreshes bool
	level     slog.Level
	hasDisk   bool // for what is too large for memory
	forgets   bool // the pages in memory, before each dialog
	isProxied bool // clients come by a proxy in front, which is trusted
	// isSmall is whether requests have room for 4 KiB at least, and for 8 KiB at most: net/http gives those behind another
	// more of it.
	isSmall bool
}

var everybody = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// variants are the configurations.
var variants = sync.OnceValue(func() []*variant {
	stranger := netip.MustParseAddrPort("192.0.2.7:50000")
	gateway := func(c *proxy.Config) {
		server, err := uri.Parse("http://10.0.0.1")
		if err == nil {
			c.Origins = []proxy.Origin{{Host: "www.example", Servers: []uri.URI{server}}}
		}
	}
	rules := func(rules ...policy.Rule) func(*proxy.Config) {
		return func(c *proxy.Config) {
			if made, err := policy.New(policy.Enforce, rules); err == nil {
				c.Policy = made
			}
		}
	}
	behind := func(change func(*proxy.Config)) func(*proxy.Config) {
		return func(c *proxy.Config) {
			gateway(c)
			c.Access.Trusted, c.Access.Resolve = []netip.Prefix{loopback}, []netip.Prefix{loopback, netip.MustParsePrefix("192.0.2.0/24")}
			c.Access.Proxy = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::/32")}
			if change != nil {
				change(c)
			}
		}
	}
	return []*variant{
		{name: "plain"},
		{name: "gateway", change: gateway},
		{name: "gateway for strangers", client: stranger, change: func(c *proxy.Config) { gateway(c); c.Access.Resolve, c.Access.Proxy = everybody, nil }},
		{name: "no resolve clients", change: func(c *proxy.Config) { c.Access.Resolve = nil }},
		{name: "no proxy clients", change: func(c *proxy.Config) { c.Access.Proxy = nil }},
		{name: "stranger", client: stranger},
		{name: "everybody", client: stranger, change: func(c *proxy.Config) {
			c.Access.Resolve, c.Access.Proxy, c.CORS = everybody, everybody, []string{"*"}
		}},
		{name: "origins", change: func(c *proxy.Config) { c.CORS = []string{"https://page.example"} }},
		{name: "rate", change: func(c *proxy.Config) { c.Access.Rate = 3 }},
		{name: "redirect to TLS", change: func(c *proxy.Config) { c.RedirectTLS = true }},
		{name: "TLS", secure: true, change: func(c *proxy.Config) { c.RedirectTLS = true; gateway(c) }, serving: func(t testing.TB,
			c *listen.ServerConfig,
		) {
			t.Helper()
			c.TLS = certificate(t)
		}},
		{name: "identified", change: func(c *proxy.Config) { c.Identify = true }},
		{name: "identified behind a proxy", change: func(c *proxy.Config) { c.Identify, c.Access.Trusted = true, []netip.Prefix{loopback}; gateway(c) }},
		{name: "PROXY protocol", prefix: "PROXY TCP4 192.0.2.9 192.0.2.1 1000 80\r\n", change: func(c *proxy.Config) {
			c.Access.Resolve = []netip.Prefix{netip.MustParsePrefix("192.0.2.9/32")}
		}, serving: func(_ testing.TB, c *listen.ServerConfig) { c.ProxyProtocol = []netip.Prefix{loopback} }},
		{name: "small", isSmall: true, change: func(c *proxy.Config) { c.MaxTarget = 24; gateway(c) }, serving: func(_ testing.TB,
			c *listen.ServerConfig,
		) {
			c.MaxHeader = 1
		}},
		{name: "rules", change: rules(
			policy.Rule{ID: "no-page", Deny: true, Hosts: []string{"denied.example"}}, policy.Rule{ID: "some", Hosts: []string{".example"}, Methods: []string{"GET"}},
			policy.Rule{ID: "rest", Deny: true},
		)},
		{name: "rules by address", change: func(c *proxy.Config) {
			rules(policy.Rule{ID: "net", Deny: true, Destinations: []netip.Prefix{netip.MustParsePrefix("192.0.2.80/32")}})(c)
			gateway(c)
		}},
		{name: "debugged", level: slog.LevelDebug, change: gateway},
		{name: "refresh ahead", refreshes: true},
		{name: "no cache ready", change: func(c *proxy.Config) { c.Ready = nil }},
		{name: "unhealthy", change: func(c *proxy.Config) { c.Unhealthy = func(l string) bool { return l == "https://a.example/1" } }},
		{name: "fresh", change: func(c *proxy.Config) { c.Access.Fresh = []netip.Prefix{loopback} }},
		{name: "exact spelling", change: func(c *proxy.Config) {
			gateway(c)
			c.Spelling, c.Origins[0].Spelling = route.SpellingExact, route.SpellingExact
		}},
		{name: "redirected spelling", change: func(c *proxy.Config) { c.Spelling = route.SpellingRedirect; gateway(c) }},
		{name: "traced", change: func(c *proxy.Config) {
			c.Begin = func(string, httpmessage.Lines, time.Time, bool) proxy.Span { return untraced{} }
		}},
		{name: "identifiers", change: func(c *proxy.Config) {
			if table, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...); err == nil {
				c.Names.Identifiers = table
			}
		}},
		{name: "tags", change: func(c *proxy.Config) { c.Tags = message.CacheTag }},
		{name: "identified, with tags", change: func(c *proxy.Config) { c.Identify, c.Tags = true, message.Xkey }},
		{name: "tags behind a proxy", isProxied: true, change: behind(func(c *proxy.Config) { c.Tags = message.SurrogateKey })},
		{name: "behind a proxy", isProxied: true, change: behind(nil)},
		{name: "rate behind a proxy", isProxied: true, change: behind(func(c *proxy.Config) { c.Access.Rate = 3 })},
		{name: "named to origins behind a proxy", isProxied: true, change: behind(func(c *proxy.Config) {
			c.Forward.Forwarded, c.Origins[0].Forwarded, c.Identify = forward.ForwardedStandard, forward.ForwardedFor, true
		})},
		{name: "rules behind a proxy", isProxied: true, change: behind(rules(
			policy.Rule{ID: "one", Clients: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}}, policy.Rule{ID: "rest", Deny: true},
		))},
		{name: "redirect to TLS behind a proxy", isProxied: true, change: behind(func(c *proxy.Config) {
			c.RedirectTLS, c.Access.Resolve, c.CORS = true, everybody, []string{"*"}
		})},
		{name: "PROXY protocol behind a proxy", prefix: "PROXY TCP4 192.0.2.9 192.0.2.1 1000 80\r\n", isProxied: true, change: behind(func(c *proxy.Config) {
			c.Access.Trusted = []netip.Prefix{netip.MustParsePrefix("192.0.2.9/32")}
		}), serving: func(_ testing.TB, c *listen.ServerConfig) { c.ProxyProtocol = []netip.Prefix{loopback} }},
	}
})

// untraced is a span of which nobody hears.
type untraced struct{}

func (untraced) Traceparent() string {
	return "00-11111111111111111111111111111111-2222222222222222-00"
}
func (untraced) End(*proxy.Event, []resolver.Step) {}
