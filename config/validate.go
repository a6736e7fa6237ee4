package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Validate returns all errors in c, or nil. The type of the error is Diagnostics.
func (c Config) Validate() error {
	var f Diagnostics
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
	c.checkHelpers(&f)
	checkSites(&f, c.Proxy)
	checkDigitalLink(&f, c.Registry)
	checkOwnHosts(&f, c)
	checkGateways(&f, c.Gateways.Templates)
	checkIdentifiers(&f, c.Resolve.Identifiers)
	checkSiteTexts(&f, c.Site.Texts)
	checkAccessLogs(&f, c.Log.Access)
	c.checkTogether(&f)
	if len(f) == 0 {
		return nil
	}
	return f
}

// checkTogether checks settings that depend on each other.
func (c Config) checkTogether(f *Diagnostics) {
	if c.Resolve.MaxTTL < c.DNS.MinTTL {
		f.Add("resolve.max_ttl", "%s is less than dns.min_ttl", show(c.Resolve.MaxTTL))
	}
	if c.Limits.Target > c.Limits.Header {
		f.Add("limits.target", "%s is greater than limits.header, which includes it", show(c.Limits.Target))
	}
	if c.Cache.Responses > 0 && c.Cache.MaxResponse > c.Cache.Responses/8 {
		f.Add("cache.max_response", "%s is greater than an eighth of cache.responses, %s", show(c.Cache.MaxResponse),
			show(c.Cache.Responses))
	}
	if held := reservedMemory(c.Cache); c.Limits.Memory > 0 && c.Limits.Memory < held {
		f.Add("limits.memory",
			"%s is less than %s, the sum of cache.answers, cache.records, cache.responses (and a quarter of it for "+
				"incoming responses) and the base memory of urnd", show(c.Limits.Memory), show(held))
	}
	if c.Registry.HealthInterval > 0 && c.Registry.HealthContact == "" {
		f.Add("registry.health_contact",
			"is required with registry.health_interval: operators of the checked servers must be able to "+
				"reach you")
	}
	if c.Cache.Shared != "" && c.Cache.SharedKey == "" {
		f.Add("cache.shared_key", "is required with cache.shared: it encrypts shared entries")
	}
	if c.Site.Sitemap && c.Listen.PublicURL == "" {
		f.Add("site.sitemap", "requires listen.public_url: a sitemap has absolute URLs")
	}
	c.checkListeners(f)
	c.checkTLS(f)
	c.checkAdmin(f)
	c.checkProxies(f)
}

func (c Config) checkListeners(f *Diagnostics) {
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
				f.Add(l.path, "%q is also the address of another listener, %s", address, taken[i].path)
			case i >= 0:
				f.Add(l.path, "%q is also an address of another listener, %q of %s: delete one of them", address,
					taken[i].address, taken[i].path)
			}
			taken = append(taken, listener{address, l.path})
		}
	}
}

// sameListener reports whether two listeners cannot be open at the same time, because they have the same
// address or one of them listens on all addresses.
func sameListener(a, b string) bool {
	host, port, err := net.SplitHostPort(a)
	other, otherPort, otherErr := net.SplitHostPort(b)
	if err != nil || otherErr != nil || port != otherPort || port == "0" {
		return err != nil && a == b && a != ""
	}
	addr, _ := netip.ParseAddr(host)
	otherAddr, _ := netip.ParseAddr(other)
	isAll := func(host string, addr, of netip.Addr) bool { // "" and [::] include IPv4
		return host == "" || addr == netip.IPv6Unspecified() ||
			addr == netip.IPv4Unspecified() && (of.Is4() || !of.IsValid())
	}
	return host == other || isAll(host, addr, otherAddr) || isAll(other, otherAddr, addr)
}

// checkAdmin requires authentication if administrators may be on other machines.
func (c Config) checkAdmin(f *Diagnostics) {
	if c.Access.AdminToken != "" || c.TLS.ClientCA != "" {
		return
	}
	for i, prefix := range c.Access.AdminClients {
		if !isLoopback(prefix) {
			f.Add(index("access.admin_clients", i),
				"%s includes other machines: set access.admin_token or tls.client_ca", prefix)
		}
	}
	if everybodyAt(c.Access.AdminProxies) >= 0 {
		return // checkProxies reports a better error
	}
	for i, prefix := range c.Access.AdminProxies {
		if !isLoopback(prefix) {
			f.Add(index("access.admin_proxies", i),
				"%s includes other machines, which can impersonate an administrator by "+
					"X-Forwarded-For: 127.0.0.1: set access.admin_token or tls.client_ca, or write 127.0.0.0/8 for "+
					"proxies on this machine", prefix)
		}
	}
}

// isLoopback reports whether all addresses of a network are loopback addresses.
func isLoopback(prefix netip.Prefix) bool {
	return prefix.Addr().IsLoopback() && prefix.Bits() >= 8 && (prefix.Addr().Is4() || prefix.Bits() == 128)
}

func index(path string, i int) string { return path + "." + strconv.Itoa(i) }

// schemes returns the schemes to which clients may be redirected, in addition to http and https.
func schemes() []string {
	return slices.DeleteFunc(uri.LocationSchemes(), uri.IsWebScheme)
}

// checkServer checks an http or https origin, such as that of a THTTP server.
func checkServer(f *Diagnostics, path, server string) {
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

// isWebURL reports whether a text is an http or https URL with a host and without userinfo.
func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && uri.IsWebScheme(u.Scheme) && u.Hostname() != "" && u.User == nil
}

const hasUserinfo = "contains a user or a password, which is not allowed"

var errNoServer = errors.New("is not http:// or https:// and a host, without a path")

// isServer returns an error for a URL that is not an http or https origin.
func isServer(server string) error {
	u, err := uri.Parse(server)
	if err == nil {
		err = u.Check()
	}
	host, _ := u.Host()
	hasMore := server != u.Scheme()+"://"+authority(u) || strings.Contains(server, "@")
	if err == nil && (!u.IsWeb() || hasMore || host == "") {
		err = errNoServer
	}
	return err
}

func authority(u uri.URI) string { a, _ := u.Authority(); return a }

func checkPattern(f *Diagnostics, path, pattern string) {
	if _, err := regexp.Compile(pattern); err != nil {
		f.Add(path, "%v", err)
	}
}

// userinfo matches a URL with userinfo (RFC 3986 section 3.2.1).
var userinfo = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@`)

// literalScheme matches a template whose scheme has no variables.
var literalScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// minMemory is the memory that urnd needs with almost empty caches, in bytes.
const minMemory = 32 << 20

// The maximum memory per unit in bytes; batches is a number.
const (
	connectionMemory = 32 << 10  // a connection with its goroutine and buffers, after a request
	secureMemory     = 64 << 10  // a connection with TLS and HTTP/2, without its concurrent requests
	http2Memory      = 32 << 10  // an HTTP/2 request whose response waits for the client's flow-control window
	receiveMemory    = 256 << 10 // unread body of an HTTP/2 response
	requestMemory    = 32 << 10  // resolution of a name
	fetchMemory      = 128 << 10 // two blocks of a pass-through body
	streamMemory     = 128 << 10 // a buffer for each active direction
	batchMemory      = 16 << 20  // largest body of a batch
	batches          = 8         // maximum concurrent batches
	registryMemory   = 136 << 20 // page caches of SQLite
)

// memoryUse is the maximum memory that a setting allows.
type memoryUse struct {
	setting string
	most    Size
}

// The limits of concurrent requests per HTTP/2 connection. The upper one is the minimum that RFC 9113 section
// 6.5.2 recommends; the lower one is the number that browsers reach with several HTTP/1.1 connections.
const (
	leastHTTP2Requests = 8
	mostHTTP2Requests  = 100
)

// HTTP2Requests returns the maximum number of concurrent requests per HTTP/2 connection: as many as fit into
// limits.memory (or else into available, where 0 is no limit) if there are limits.connections connections.
func (c Config) HTTP2Requests(available Size) int {
	memory := cmp.Or(c.Limits.Memory, available)
	if memory == 0 {
		return mostHTTP2Requests
	}
	room := int64(memory) - int64(sum(c.memoryUses(0)))
	return int(min(max(room/int64(c.Limits.Connections)/http2Memory, leastHTTP2Requests), mostHTTP2Requests))
}

// hasHTTP2 reports whether clients may use HTTP/2.
func (c Config) hasHTTP2() bool { return len(c.Listen.TLS) > 0 && c.Listen.HTTP2 }

func sum(uses []memoryUse) (all Size) {
	for _, use := range uses {
		all += use.most
	}
	return all
}

// memoryUses returns the memory that the settings allow, with this number of requests per HTTP/2 connection,
// and that of urnd itself.
func (c Config) memoryUses(http2Requests int) []memoryUse {
	l := c.Limits
	connection, receive := Size(connectionMemory), Size(0)
	if len(c.Listen.TLS) > 0 {
		connection = secureMemory
	}
	if c.hasHTTP2() {
		receive = receiveMemory
	}
	uses := []memoryUse{
		{"cache.answers", c.Cache.Answers},
		{"cache.records", c.Cache.Records},
		{"cache.responses and a quarter of it for incoming responses", c.Cache.Responses + c.Cache.Responses/4},
		{"limits.documents", l.Documents},
		{"limits.connections", Size(l.Connections) * connection},
		{"limits.requests", Size(l.Requests) * requestMemory},
		{"limits.fetches", Size(l.Fetches) * (fetchMemory + receive)},
		{"limits.streams", Size(min(l.Streams, max(l.Outgoing/2, 1))) * (streamMemory + receive)},
		{"batches", batches * batchMemory},
	}
	if c.hasHTTP2() && http2Requests > 0 {
		uses = append(uses, memoryUse{
			fmt.Sprintf("limits.connections over HTTP/2 with %d requests each", http2Requests),
			Size(l.Connections*http2Requests) * http2Memory,
		})
	}
	if strings.HasPrefix(c.Registry.Store, "sqlite:") {
		uses = append(uses, memoryUse{"registry.store", registryMemory})
	}
	return append(uses, memoryUse{"urnd itself", minMemory})
}

// MemoryDiagnostics returns an error if the settings together allow more memory than urnd may use: limits.memory or,
// if that is 0, available, where 0 is no limit. It also returns an error if limits.memory exceeds what is
// available.
func (c Config) MemoryDiagnostics(available Size) Diagnostics {
	uses := c.memoryUses(c.HTTP2Requests(available))
	all := sum(uses)
	parts := make([]string, 0, len(uses))
	for _, use := range uses {
		parts = append(parts, use.setting+" "+show(use.most))
	}
	var f Diagnostics
	const ofGroup, room = "this process may use", 8 // available includes slack, which an explicit limit may use
	switch l := c.Limits.Memory; {
	case l > 0 && l < all:
		f.Add("limits.memory", "%s is less than %s, the sum of what the settings allow: %s: write limits.memory: %s%s",
			show(l), show(all),
			strings.Join(parts, ", "), show(wholeMiB(all)), c.fewerConnections(l))
	case l == 0 && available > 0 && available < all:
		f.Add("limits.memory", ofGroup+" %s by its control group or container, and the settings allow %s in total: "+
			"%s: reduce some of them%s", show(available), show(all), strings.Join(parts, ", "),
			c.fewerConnections(available))
	case available > 0 && l > available+available/room:
		f.Add("limits.memory", "%s is more than "+ofGroup+
			" by its control group or container, %s: write that value, or delete the line",
			show(l), show(available))
	}
	return f
}

// fewerConnections suggests a limits.connections that fits into memory, "" if lowering it does not help.
func (c Config) fewerConnections(memory Size) string {
	const few = 16 // fewer are of no use
	all, before := sum(c.memoryUses(leastHTTP2Requests)), c.Limits.Connections
	c.Limits.Connections = 0
	others := sum(c.memoryUses(leastHTTP2Requests))
	n := 0
	if others < memory {
		n = int((memory - others) / ((all - others) / Size(before)))
	}
	if n < few {
		return ""
	}
	return fmt.Sprintf(", or limits.connections: %d", n)
}

// wholeMiB rounds up to whole MiB.
func wholeMiB(size Size) Size { return (size + 1<<20 - 1) >> 20 << 20 }

// reservedMemory is the maximum memory of the caches and of urnd itself.
func reservedMemory(c Cache) Size {
	return c.Answers + c.Records + c.Responses + c.Responses/4 + minMemory
}
