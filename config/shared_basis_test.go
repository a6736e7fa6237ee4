package config_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
)

// server parses an element of dns.servers.
func server(t *testing.T, text string) (s config.Server) {
	t.Helper()
	if err := s.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

// distributed returns the configuration of one of several instances.
func distributed(t *testing.T) config.Config {
	t.Helper()
	c := config.Default()
	c.DNS.Servers = []config.Server{server(t, "192.0.2.1"), server(t, "192.0.2.2:53"), server(t,
		"tls://192.0.2.2:53#dns.example")}
	c.DDDS.RootOptions = []config.RootOptions{
		{Root: "urn.arpa.", Servers: slices.Clone(c.DNS.Servers)},
		{Root: "urn.example.", RequireDNSSEC: true},
	}
	c.Registry.Store, c.Registry.Owned = "postgres://a@db1,db2/names", []string{"urn:a:"}
	c.Access.AllowDestinations = []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("192.168.0.0/16"),
	}
	c.Namespaces = []config.Namespace{{NID: "a", THTTP: []string{"https://a.example", "https://b.example"}}, {NID: "b"}}
	c.Proxy.Upstreams = []config.Upstream{
		{Proxies: []string{"http://p.example:3128"}, User: "u", Password: "/etc/a"},
		{Proxies: []string{"direct"}},
	}
	c.Proxy.Sites = []config.Site{
		{
			Hosts: []string{"a.example"}, Servers: []string{"https://192.0.2.3:1", "https://192.0.2.4:1"},
			TLS: config.ServerTLS{CA: "/etc/ca", Key: "/etc/key", Certificate: "/etc/c"},
		},
		{Hosts: []string{"b.example"}, Servers: []string{"http://192.0.2.3:1"}},
	}
	c.News.Login = "/etc/news"
	return c
}

// TestSharedBasis: instances share contents if the settings that answers and responses depend on are equal,
// even if other settings differ.
func TestSharedBasis(t *testing.T) {
	answers, responses := distributed(t).SharedBases()
	for name, change := range map[string]func(*config.Config){
		"a replica":                   func(c *config.Config) { c.Registry.Replica = "postgres://replica/names" },
		"another server of the store": func(c *config.Config) { c.Registry.Store = "postgres://b@db2,db1/names" },
		"the file of its password":    func(c *config.Config) { c.Registry.Password = "/etc/password" },
		"lifetimes of the registry": func(c *config.Config) {
			c.Registry.TTL, c.Registry.ClientTTL = time.Hour,
				time.Second
		},
		"counts":                       func(c *config.Config) { c.Registry.Count = false },
		"the order of DNS servers":     func(c *config.Config) { slices.Reverse(c.DNS.Servers) },
		"the order of roots' servers":  func(c *config.Config) { slices.Reverse(c.DDDS.RootOptions[0].Servers) },
		"the order of roots' options":  func(c *config.Config) { slices.Reverse(c.DDDS.RootOptions) },
		"the order of destinations":    func(c *config.Config) { slices.Reverse(c.Access.AllowDestinations) },
		"the order of THTTP servers":   func(c *config.Config) { slices.Reverse(c.Namespaces[0].THTTP) },
		"the order of namespaces":      func(c *config.Config) { slices.Reverse(c.Namespaces) },
		"the order of specifications":  func(c *config.Config) { slices.Reverse(c.URN.Accept) },
		"the order of servers of site": func(c *config.Config) { slices.Reverse(c.Proxy.Sites[0].Servers) },
		"the order of sites":           func(c *config.Config) { slices.Reverse(c.Proxy.Sites) },
		"the password of an upstream": func(c *config.Config) {
			c.Proxy.Upstreams[0].Password = "credential:upstream"
		},
		"files of TLS": func(c *config.Config) {
			c.Proxy.Sites[0].TLS = config.ServerTLS{CA: "/b/ca", Key: "credential:key", Certificate: "/b/c"}
		},
		"the login of news": func(c *config.Config) { c.News.Login = "credential:news" },
		"how long and often servers are asked": func(c *config.Config) {
			c.DNS.Timeout, c.DNS.Rounds, c.DNS.MixedCase = time.Minute, 9, false
			c.Resolve.Timeout, c.Resolve.Backoff, c.SLP.Timeout, c.THTTP.Timeout = time.Minute, 0, time.Minute,
				time.Minute
		},
		"limits": func(c *config.Config) {
			c.Limits.Requests = 8
		},
		"memory and disk": func(c *config.Config) {
			c.Cache.Answers, c.Cache.Disk, c.Cache.StaleFor = 1<<30, 1<<30,
				time.Hour
		},
	} {
		c := distributed(t)
		if change(&c); !slices.Equal(basesOf(c), []string{answers, responses}) {
			t.Errorf("%s: nothing is shared any more", name)
		}
	}
	for name, change := range map[string]func(*config.Config){
		"another DNS server":    func(c *config.Config) { c.DNS.Servers[0] = server(t, "192.0.2.9") },
		"DNS in clear":          func(c *config.Config) { c.DNS.Servers = c.DNS.Servers[:2] },
		"roots":                 func(c *config.Config) { c.DDDS.Roots = []string{"urn.example."} },
		"DNSSEC":                func(c *config.Config) { c.DDDS.RootOptions[0].RequireDNSSEC = true },
		"no registry":           func(c *config.Config) { c.Registry.Store = "" },
		"what the registry has": func(c *config.Config) { c.Registry.Owned = nil },
		"the order of systems":  func(c *config.Config) { slices.Reverse(c.Resolve.Order) },
		"lifetimes of rules":    func(c *config.Config) { c.Resolve.RuleTTL = time.Hour },
		"lifetimes of records":  func(c *config.Config) { c.Resolve.MaxTTL = time.Hour },
		"a rule": func(c *config.Config) {
			c.Namespaces[1].Targets = []config.Target{{Template: "https://b.example/{nss}"}}
		},
	} {
		c := distributed(t)
		if change(&c); basesOf(c)[0] == answers {
			t.Errorf("%s: answers are shared all the same", name)
		}
	}
	for name, change := range map[string]func(*config.Config){
		"the order of upstreams": func(c *config.Config) { slices.Reverse(c.Proxy.Upstreams) },
		"the user of one":        func(c *config.Config) { c.Proxy.Upstreams[0].User = "v" },
		"another server":         func(c *config.Config) { c.Proxy.Sites[0].Servers[0] = "https://192.0.2.9:1" },
		"which server has what": func(c *config.Config) {
			c.Proxy.Sites[0].Servers, c.Proxy.Sites[1].Servers = c.Proxy.Sites[1].Servers,
				c.Proxy.Sites[0].Servers
		},
		"no login":     func(c *config.Config) { c.News.Login = "" },
		"no authority": func(c *config.Config) { c.Proxy.Sites[0].TLS.CA = "" },
		"destinations": func(c *config.Config) { c.Access.AllowDestinations = nil },
	} {
		c := distributed(t)
		if change(&c); basesOf(c)[1] == responses {
			t.Errorf("%s: responses are shared all the same", name)
		}
	}
}

func basesOf(c config.Config) []string {
	answers, responses := c.SharedBases()
	return []string{answers, responses}
}
