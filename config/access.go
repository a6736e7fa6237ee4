package config

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

func checkOrigins(f *Diagnostics, path string, value any) {
	origins, _ := value.([]string)
	for i, origin := range origins {
		if origin != "*" {
			checkServer(f, index(path, i), origin)
		}
	}
}

func checkEmbedders(f *Diagnostics, path string, value any) {
	origins, _ := value.([]string)
	for i, origin := range origins {
		before := len(*f)
		checkServer(f, index(path, i), origin)
		if plain := browserOrigin(origin); len(*f) == before && !uri.EqualFold(origin, plain) {
			f.Add(index(path, i), neverMatches, origin, plain)
		}
	}
}

// warnOfAllOrigins warns of the origin "*" if not all clients may resolve names: it then allows no site.
func warnOfAllOrigins(f *Diagnostics, c Access) {
	isForAll := func(p netip.Prefix) bool { return p.Bits() == 0 } // the same condition as in proxy/gate
	if i := slices.Index(c.CORS, "*"); i >= 0 && len(c.ResolveClients) > 0 &&
		!slices.ContainsFunc(c.ResolveClients, isForAll) {
		f.Add(index("access.cors", i),
			"\"*\" allows no page to read answers while access.resolve_clients is restricted: list the "+
				"origins, such as https://catalogue.example.org, or write cors: []")
	}
}

const neverMatches = "%q is not the form that browsers send for this origin, and never matches: write %s"

// browserOrigin returns an origin as browsers serialize it: RFC 6454 section 6.2.
func browserOrigin(origin string) string {
	u, err := uri.Parse(origin)
	if err != nil {
		return origin // Validate reports the error
	}
	return strings.TrimSuffix(u.Normalize().String(), "/")
}

func checkContact(f *Diagnostics, path string, value any) {
	checkContactBy(f, path, value, "is not a URI with mailto:, https: or tel: (RFC 9116 section 2.5.3)", "mailto",
		"https", "tel")
}

// checkContactBy checks a contact URI, which must have one of the schemes.
func checkContactBy(f *Diagnostics, path string, value any, message string, schemes ...string) {
	contact, _ := value.(string)
	if contact == "" {
		return
	}
	if u, err := uri.Parse(contact); err != nil || u.Check() != nil || !slices.Contains(schemes, u.Scheme()) {
		help := ""
		if strings.Contains(contact, "@") && !strings.Contains(contact, ":") {
			help = ": write mailto:" + contact
		}
		f.Add(path, "%q %s%s", contact, message, help)
	}
}

// checkPrefixList rejects IPv4 networks in IPv6 form, which match nothing: addresses are compared unmapped.
func checkPrefixList(f *Diagnostics, path string, value any) {
	prefixes, _ := value.([]netip.Prefix)
	for i, prefix := range prefixes {
		if prefix.Addr().Is4In6() {
			f.Add(index(path, i), "%s is an IPv4 network in IPv6 form: write it as IPv4", prefix)
		}
	}
}

// A client that may set the client address of a request gains the rights of every client. That is also true
// behind a proxy that appends to X-Forwarded-For: the client is the last address there that is not a trusted
// proxy, so if every address is trusted, it is the first one, which the client itself may forge. So it is an
// error to trust all addresses as proxies if any right depends on the address, whatever urnd listens on.

// everybodyAt returns the index of the network with which the networks cover almost all addresses, -1 if they
// do not. It uses the same limit as isEverybody.
func everybodyAt(prefixes []netip.Prefix) int {
	const all = 1 << 32
	var sum4, sum6 uint64
	for i, p := range prefixes {
		isWithin := func(other netip.Prefix) bool { return other.Bits() <= p.Bits() && other.Overlaps(p) }
		if slices.ContainsFunc(prefixes[:i], isWithin) {
			continue
		}
		sum := &sum4
		if p.Addr().Is6() {
			sum = &sum6
		}
		if *sum += uint64(all) >> max(p.Bits(), 0); *sum >= all>>mostBits {
			return i
		}
	}
	return -1
}

// addressRights returns the settings that grant rights to some clients by their addresses.
func (c Config) addressRights() (all []string) {
	for _, right := range []struct {
		path    string
		clients []netip.Prefix
	}{
		{"access.resolve_clients", c.Access.ResolveClients},
		{"access.proxy_clients", c.Access.ProxyClients},
		{"access.fresh_clients", c.Access.FreshClients},
		{"access.purge_clients", c.Access.PurgeClients},
		{"access.browse_clients", c.Access.BrowseClients},
		{"access.browse_all_clients", c.Access.BrowseAllClients},
	} {
		if len(right.clients) > 0 && everybodyAt(right.clients) < 0 {
			all = append(all, right.path)
		}
	}
	byAddress := func(r ProxyRule) bool { return len(r.Clients) > 0 }
	if len(c.Access.ProxyClients) > 0 && slices.ContainsFunc(c.Proxy.Rules, byAddress) {
		all = append(all, "proxy.rules")
	}
	return all
}

// checkProxies rejects trusted proxies that cover all addresses, if a forged client address would gain rights.
func (c Config) checkProxies(f *Diagnostics) {
	check := func(path string, prefixes []netip.Prefix, rights []string, how, whose string) {
		i := everybodyAt(prefixes)
		if i < 0 || len(rights) == 0 {
			return
		}
		others := ""
		if prefixes[i].Bits() > mostBits {
			others = ", together with the previous ones"
		}
		f.Add(index(path, i),
			"%s covers all addresses%s: any client can then impersonate any other%s and gets the rights of %s: list "+
				"the addresses of your %s", prefixes[i], others, how, strings.Join(rights, ", "), whose)
	}
	const field = ", with X-Forwarded-For: 127.0.0.1,"
	check("access.trusted_proxies", c.Access.TrustedProxies, c.addressRights(), field, "proxies")
	check("listen.proxy_protocol", c.Listen.ProxyProtocol, c.addressRights(), "", "load balancers")
	if everybodyAt(c.Access.AdminClients) < 0 {
		check("access.admin_proxies", c.Access.AdminProxies, []string{"access.admin_clients"}, field, "proxies")
	}
}

// checkSecretFile rejects a value that is probably the secret itself, without showing it.
func checkSecretFile(f *Diagnostics, path string, value any) {
	name, _ := value.(string)
	isPath := strings.HasPrefix(name, "/") && !strings.ContainsAny(name, "\n:=$")
	if name != "" && !strings.HasPrefix(name, CredentialPrefix) && !isPath {
		f.Add(path,
			"is not a path that begins with a slash, or credential: and a name; its value is not shown, since it "+
				"may be the secret")
	}
}

// checkKeyFile rejects a key in place of its file, without showing it.
func checkKeyFile(f *Diagnostics, path string, value any) {
	if name, _ := value.(string); strings.ContainsAny(name, "\n") || strings.Contains(name, "PRIVATE KEY") {
		f.Add(path, "is not a path, or credential: and a name; its value is not shown, since it may be the key itself")
	}
}

// CredentialPrefix marks the name of a file that systemd passes (LoadCredential of systemd.exec(5)), in place
// of a path.
const CredentialPrefix = "credential:" //nolint:gosec // a prefix, not a credential

// checkServerTLS checks the settings of TLS with a server. isHTTPS is true if any server uses TLS.
func checkServerTLS(f *Diagnostics, path string, c ServerTLS, isHTTPS bool) {
	if c == (ServerTLS{}) {
		return
	}
	if !isHTTPS {
		f.Add(path, "requires an https server, and there is none")
	}
	if (c.Certificate == "") != (c.Key == "") {
		f.Add(path+".certificate", "requires key, and key requires certificate")
	}
	if c.ServerName != "" && !isHost(c.ServerName) {
		f.Add(path+".server_name", "%q is not a host such as www.example.org, without port", c.ServerName)
	}
}

// maxPublicURL is the maximum length of listen.public_url in bytes: each answer repeats it.
const maxPublicURL = 200

func checkPublicURL(f *Diagnostics, path string, value any) {
	text, _ := value.(string)
	if text == "" {
		return
	}
	u, err := uri.Parse(text)
	if err == nil {
		err = u.Check()
	}
	_, hasQuery := u.Query()
	_, hasFragment := u.Fragment()
	_, hasUser := u.Userinfo()
	host, _ := u.Host()
	switch {
	case err != nil, u.Scheme() != "http" &&
		u.Scheme() != "https", host == "", hasQuery, hasFragment, hasUser, strings.ContainsAny(text, ",;"):
		f.Add(path, "%q is not a URL of a server, such as https://urn.example.org", text)
	case strings.HasSuffix(text, "/"):
		f.Add(path, "%q ends with a slash: write %s", text, strings.TrimRight(text, "/"))
	case len(text) > maxPublicURL:
		f.Add(path, "has more than %d bytes", maxPublicURL)
	}
}

func checkListenList(f *Diagnostics, path string, value any) {
	addresses, _ := value.([]string)
	for i, address := range addresses {
		checkListen(f, index(path, i), address, "127.0.0.1:8141")
	}
}

// UnixPrefix marks the address of a Unix domain socket.
const UnixPrefix = "unix:"

func checkAdminListen(f *Diagnostics, path string, value any) {
	address, _ := value.(string)
	socket, isSocket := strings.CutPrefix(address, UnixPrefix)
	switch {
	case address == "":
	case asBool(address) == asBool("off"):
		f.Add(path, "%q is not an address: write '' to turn it off", address)
	case !isSocket:
		checkListen(f, path, address, "127.0.0.1:8142")
	case !strings.HasPrefix(socket, "/"):
		f.Add(path, "%q has no path that begins with a slash after unix:", address)
	}
}

// checkListen checks an address to listen on; sample is a valid one.
func checkListen(f *Diagnostics, path, address, sample string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		f.Add(path, "%q is not host:port%s", address, writeAddress(address, sample))
		return
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		f.Add(path, "%q has no port between 0 and 65535", address)
	} else if host == "*" {
		f.Add(path, "%q does not begin with an IP address: write :%d for all addresses", address, n)
	} else if _, err := netip.ParseAddr(host); host != "" && host != "localhost" && err != nil {
		f.Add(path, "%q does not begin with an IP address (port %d)", address, n)
	}
}

// The tasks of a helper.
const (
	HelperPasswords = "passwords"
	HelperNegotiate = "negotiate"
	HelperGroups    = "groups"
)

// Helper returns the first helper for a task, and its index; -1 for none.
func (a Access) Helper(kind string) (h Helper, i int) {
	for i, h := range a.Helpers {
		if h.For == kind {
			return h, i
		}
	}
	return Helper{}, -1
}

// HasLogin reports whether clients of the proxy must authenticate.
func (a Access) HasLogin() bool {
	_, passwords := a.Helper(HelperPasswords)
	_, negotiate := a.Helper(HelperNegotiate)
	return a.ProxyUsers != "" || passwords >= 0 || negotiate >= 0
}

func (c Config) checkHelpers(f *Diagnostics) {
	seen := make(map[string]bool)
	for i, h := range c.Access.Helpers {
		path := index("access.helpers", i)
		switch {
		case h.For == "":
			f.Add(path+".for", "is missing: write passwords, negotiate or groups")
		case seen[h.For]:
			f.Add(path+".for", "%q has another helper already: delete one of them", h.For)
		case h.For == HelperPasswords && c.Access.ProxyUsers != "":
			f.Add(path+".for", "access.proxy_users has the passwords already: delete one of them")
		}
		seen[h.For] = true
		if h.For == HelperNegotiate {
			h.checkNegotiate(f, path)
		}
		if len(h.Command) == 0 || !strings.HasPrefix(h.Command[0], "/") {
			f.Add(path+".command", "must begin with the path of a program, such as /usr/lib/squid/basic_ldap_auth")
		}
	}
}

// checkNegotiate checks the restrictions of a Negotiate helper: a process handles one handshake at a time, and
// the program names the users.
func (h Helper) checkNegotiate(f *Diagnostics, path string) {
	if h.Concurrency > 0 {
		f.Add(path+".concurrency", "is %d, but a negotiate process handles one conversation at a time: write 0",
			h.Concurrency)
	}
	if h.NegativeTTL > 0 {
		f.Add(path+".negative_ttl", "does not apply to negotiate: results of tokens are not cached")
	}
	if h.CaseSensitive {
		f.Add(path+".case_sensitive", "does not apply to negotiate: the program returns the user name")
	}
}
