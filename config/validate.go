package config

import (
	"errors"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Validate returns everything that is wrong with c, or nil. The type of the
// error is Faults.
func (c Config) Validate() error {
	var f Faults
	values := leaves(c)
	for _, s := range Settings() {
		if value, ok := values[s.Path]; ok {
			s.validate(&f, value)
			s.validateElements(&f, value)
		}
	}
	checkRootOptions(&f, "ddds.root_options", c.DDDS)
	checkHandles(&f, c.Registry.Handles)
	checkNamespaces(&f, c.Namespaces)
	checkProxyRules(&f, c.Proxy.Rules)
	checkUpstreams(&f, c.Proxy.Upstreams)
	checkSites(&f, c.Proxy.Origins)
	checkDigitalLink(&f, c.Registry)
	checkOwnHosts(&f, c)
	checkGateways(&f, c.Gateways.Templates)
	checkIdentifiers(&f, c.Resolve.Identifiers)
	checkSiteTexts(&f, c.Site.Texts)
	c.checkTogether(&f)
	if len(f) == 0 {
		return nil
	}
	return f
}

// checkTogether checks settings that depend on each other.
func (c Config) checkTogether(f *Faults) {
	if c.Resolve.MaxTTL < c.DNS.MinTTL {
		f.Add("resolve.max_ttl", "%s is less than dns.min_ttl", show(c.Resolve.MaxTTL))
	}
	if c.Limits.Target > c.Limits.Header {
		f.Add("limits.target", "%s is more than limits.header, of which it is a part", show(c.Limits.Target))
	}
	if c.Cache.Responses > 0 && c.Cache.MaxResponse > c.Cache.Responses/8 {
		f.Add("cache.max_response", "%s is more than an eighth of cache.responses, %s", show(c.Cache.MaxResponse), show(c.Cache.Responses))
	}
	if held := heldMemory(c.Cache); c.Limits.Memory > 0 && c.Limits.Memory < held {
		f.Add("limits.memory", "%s is less than %s, which cache.answers, cache.records, cache.responses (and a quarter of that "+
			"for those that arrive) and urnd itself may take", show(c.Limits.Memory), show(held))
	}
	if c.Registry.HealthInterval > 0 && c.Registry.HealthContact == "" {
		f.Add("registry.health_contact", "is needed for registry.health_interval: those whose servers are asked must be able to reach you")
	}
	if c.Cache.Shared != "" && c.Cache.SharedKey == "" {
		f.Add("cache.shared_key", "is needed for cache.shared: what is shared is sealed by a secret that the urnds alone have")
	}
	if c.Site.Sitemap && c.Listen.PublicURL == "" {
		f.Add("site.sitemap", "needs listen.public_url: a sitemap has the whole addresses of pages")
	}
	c.checkListeners(f)
	c.checkAdmin(f)
	c.checkProxies(f)
}

func (c Config) checkListeners(f *Faults) {
	type listener struct{ address, path string }
	var taken []listener
	for _, l := range []struct {
		path      string
		addresses []string
	}{
		{"listen.service", c.Listen.Service}, {"listen.tls", c.Listen.TLS}, {"listen.admin", []string{c.Listen.Admin}},
	} {
		for _, address := range l.addresses {
			i := slices.IndexFunc(taken, func(other listener) bool { return sameListener(other.address, address) })
			switch {
			case i >= 0 && taken[i].address == address:
				f.Add(l.path, "%q is the address of another listener too, %s", address, taken[i].path)
			case i >= 0:
				f.Add(l.path, "%q is an address of another listener too, %q of %s: delete one of them", address, taken[i].address, taken[i].path)
			}
			taken = append(taken, listener{address, l.path})
		}
	}
	needsTLS := len(c.Listen.TLS) > 0 || c.TLS.ClientCA != ""
	if needsTLS && (c.TLS.Certificate == "" || c.TLS.Key == "") {
		f.Add("tls.certificate", "and tls.key are needed for listen.tls and tls.client_ca: write the paths of both")
	}
}

// sameListener reports whether two listeners cannot be open at the same time: one of them may have all addresses.
func sameListener(a, b string) bool {
	host, port, err := net.SplitHostPort(a)
	other, otherPort, otherErr := net.SplitHostPort(b)
	if err != nil || otherErr != nil || port != otherPort || port == "0" {
		return err != nil && a == b && a != ""
	}
	addr, _ := netip.ParseAddr(host)
	otherAddr, _ := netip.ParseAddr(other)
	isAll := func(host string, addr, of netip.Addr) bool { // "" and [::] have those of IPv4, too
		return host == "" || addr == netip.IPv6Unspecified() || addr == netip.IPv4Unspecified() && (of.Is4() || !of.IsValid())
	}
	return host == other || isAll(host, addr, otherAddr) || isAll(other, otherAddr, addr)
}

// checkAdmin requires authentication where administrators may be on other machines.
func (c Config) checkAdmin(f *Faults) {
	if c.Access.AdminToken != "" || c.TLS.ClientCA != "" {
		return
	}
	for i, prefix := range c.Access.AdminClients {
		if !isLoopback(prefix) {
			f.Add(index("access.admin_clients", i), "%s is more than this machine: access.admin_token or tls.client_ca must be set", prefix)
		}
	}
	if everybodyAt(c.Access.AdminProxies) >= 0 {
		return // checkProxies says more
	}
	for i, prefix := range c.Access.AdminProxies {
		if !isLoopback(prefix) {
			f.Add(index("access.admin_proxies", i), "%s is more than this machine, and whoever is there is taken for an administrator by "+
				"X-Forwarded-For: 127.0.0.1: access.admin_token or tls.client_ca must be set, or write 127.0.0.0/8 for proxies on this machine", prefix)
		}
	}
}

// isLoopback reports whether all addresses of a range are of this machine.
func isLoopback(prefix netip.Prefix) bool {
	return prefix.Addr().IsLoopback() && prefix.Bits() >= 8 && (prefix.Addr().Is4() || prefix.Bits() == 128)
}

func index(path string, i int) string { return path + "." + strconv.Itoa(i) }

// schemes are those to which clients may be redirected, in addition to http and https.
func schemes() []string {
	return slices.DeleteFunc(uri.LocationSchemes(), func(name string) bool { return name == "http" || name == "https" })
}

// checkServer checks the base of a THTTP server.
func checkServer(f *Faults, path, server string) {
	switch err := isServer(server); {
	case err == nil:
	case strings.Contains(server, "@"):
		f.Add(path, hasUserinfo)
	case writeServer(server) != "" || errors.Is(err, errNoServer):
		f.Add(path, "%q %v%s", server, errNoServer, writeServer(server))
	default:
		f.Add(path, "%v", err)
	}
}

const hasUserinfo = "contains a user or a password, which is not allowed there"

var errNoServer = errors.New("is not http:// or https:// and a host, without a path")

// isServer returns why a URL is not the base of a server.
func isServer(server string) error {
	u, err := uri.Parse(server)
	if err == nil {
		err = u.Check()
	}
	host, _ := u.Host()
	scheme := strings.ToLower(u.Scheme())
	hasMore := server != u.Scheme()+"://"+authority(u) || strings.Contains(server, "@")
	if err == nil && (scheme != "http" && scheme != "https" || hasMore || host == "") {
		err = errNoServer
	}
	return err
}

func authority(u uri.URI) string { a, _ := u.Authority(); return a }

func checkPattern(f *Faults, path, pattern string) {
	if _, err := regexp.Compile(pattern); err != nil {
		f.Add(path, "%v", err)
	}
}

// userinfo matches a URL with userinfo (RFC 3986 section 3.2.1).
var userinfo = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@`)

// literalScheme matches a template whose scheme has no variables.
var literalScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
