package config

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

func checkPAC(f *Diagnostics, path string, value any) {
	addresses, _ := value.([]string)
	checkAddresses(f, path, addresses, "https://", "proxy.example.org:8141", "proxy.example.org:8141")
}

// checkAddresses checks host:port addresses with an optional prefix; sample is a valid one without the prefix,
// and behindPrefix one to follow the prefix.
func checkAddresses(f *Diagnostics, path string, addresses []string, prefix, sample, behindPrefix string) {
	for i, address := range addresses {
		if strings.Contains(address, "@") {
			f.Add(index(path, i), hasUserinfo)
			continue
		}
		host, port, err := net.SplitHostPort(strings.TrimPrefix(address, prefix))
		if n, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || n == 0 || !isHost(host) {
			help := writeAddress(address, sample)
			if strings.HasPrefix(address, prefix) {
				help = strings.Replace(writeAddress(address, behindPrefix), "write ", "write "+prefix, 1)
			}
			f.Add(index(path, i), "%q is not host:port%s", address, help)
		}
	}
}

func checkPACDirect(f *Diagnostics, path string, value any) {
	hosts, _ := value.([]string)
	for i, host := range hosts {
		if !isHost(strings.TrimPrefix(host, ".")) {
			f.Add(index(path, i), "%q is not a host such as www.example.org or .example.org%s", host,
				writeHost(host, "write ."+strings.TrimLeft(host, "*.")))
		}
	}
}

// isHost reports whether a text is a domain name or an IP address.
func isHost(s string) bool {
	return isDomain(s) || net.ParseIP(s) != nil
}

func checkTargeted(f *Diagnostics, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		if name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			f.Add(index(path, i), "%q is not a field name such as CDN-Cache-Control", name)
		}
	}
}

// checkMediaTypes rejects texts that are not media types in lower case, in which one "*" may match any text.
func checkMediaTypes(f *Diagnostics, path string, value any) {
	types, _ := value.([]string)
	for i, text := range types {
		kind, rest, ok := strings.Cut(text, "/")
		isLower := func(s string) bool { return isToken(s) && s == strings.ToLower(s) }
		if !ok || !isLower(kind) || !isLower(rest) || strings.Count(text, "*") > 1 {
			f.Add(index(path, i),
				"%q is not a media type such as text/html, text/* or application/*+json, in lower case and without "+
					"parameters", text)
		}
	}
}

func checkUpstreams(f *Diagnostics, upstreams []Upstream) {
	for i, u := range upstreams {
		path := index("proxy.upstreams", i)
		checkRuleHosts(f, path+".hosts", u.Hosts)
		switch {
		case u.User != "" && u.Password == "":
			f.Add(path+".user", "%q cannot log in: set password to the path of a file", u.User)
		case u.User == "" && u.Password != "":
			f.Add(path+".password", "is not used: user is missing")
		case u.User != "" && len(u.WithoutDirect()) == 0:
			f.Add(path+".user", "is not used: direct has no login, and there is no other proxy")
		}
		checkUpstreamProxies(f, path, u)
		isSecure := func(server string) bool { return strings.HasPrefix(server, "https://") }
		checkServerTLS(f, path+".tls", u.TLS, slices.ContainsFunc(u.Proxies, isSecure))
	}
}

// direct stands for a direct connection in the proxies of an upstream.
const direct = "direct"

// WithoutDirect returns the proxies without direct.
func (u Upstream) WithoutDirect() []string {
	if last := len(u.Proxies) - 1; last >= 0 && u.Proxies[last] == direct {
		return u.Proxies[:last]
	}
	return u.Proxies
}

// IsDirect reports whether urnd connects directly if no proxy can be connected to.
func (u Upstream) IsDirect() bool { return len(u.WithoutDirect()) < len(u.Proxies) }

func checkUpstreamProxies(f *Diagnostics, path string, u Upstream) {
	const most = 64 // balance.MaxServers
	switch proxies := u.WithoutDirect(); {
	case len(u.Proxies) == 0:
		f.Add(path+".proxies", "is missing: write direct, or http://, https:// or socks5:// with a host and a port")
	case len(u.Proxies) > most:
		f.Add(path+".proxies", "has %d proxies; the maximum is %d", len(u.Proxies), most)
	case len(u.Weights) > 0 && len(u.Weights) != len(proxies):
		f.Add(path+".weights", "has %d numbers for %d proxies: write one for each", len(u.Weights), len(proxies))
	case len(u.Weights) > 0 && (u.Balance == "" || u.Balance == "order"):
		f.Add(path+".weights", "is not used with balance order: set balance")
	}
	for i, server := range u.Proxies {
		at := index(path+".proxies", i)
		if server == direct && i < len(u.Proxies)-1 {
			f.Add(at, "direct never fails: write it last")
		}
		if slices.Contains(u.Proxies[:i], server) {
			f.Add(at, "is listed twice")
		}
		checkUpstreamServer(f, at, server)
	}
}

// checkUpstreamServer checks a proxy. It does not show an invalid value, which may contain a password.
func checkUpstreamServer(f *Diagnostics, path, server string) {
	const form = "is not direct, or http://, https:// or socks5:// with a host and a port"
	if server == direct {
		return
	}
	scheme, address, ok := strings.Cut(server, "://")
	host, port, err := net.SplitHostPort(address)
	_, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case strings.Contains(server, "@"):
		f.Add(path, "%s; its value is not shown, since it may have a password: write user and password below it", form)
	case !ok:
		f.Add(path, "%s: it has no scheme; its value is not shown, since it may have a password", form)
	case strings.HasSuffix(address, "/"):
		f.Add(path, "%s: write it without a slash at its end", form)
	case err != nil && isHost(address):
		f.Add(path, "%s: it has no port", form)
	case err != nil || portErr != nil || !isHost(host):
		f.Add(path, "%s; its value is not shown, since it may have a password", form)
	default:
		Setting{Path: path, OneOf: []string{"http", "https", "socks5"}}.validate(f, scheme)
	}
}

// maxReason is the maximum length in bytes of the reason of a rule.
const maxReason = 1000

const ruleIDBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

func checkProxyRules(f *Diagnostics, rules []ProxyRule) {
	const maxID = 64
	seen := make(map[string]bool)
	for i, r := range rules {
		path := index("proxy.rules", i)
		switch {
		case r.ID == "":
			f.Add(path+".id", "is missing")
		case len(r.ID) > maxID || strings.Trim(r.ID, ruleIDBytes) != "":
			f.Add(path+".id", "%.80q must have at most %[2]d characters: letters, digits, \"-\", \"_\" and \".\"",
				r.ID, maxID)
		case seen[r.ID]:
			f.Add(path+".id", "%q is also the id of another rule", r.ID)
		}
		seen[r.ID] = true
		if r.Action == "" {
			f.Add(path+".action", "is missing: write allow or deny")
		}
		checkEach(f, path+".users", r.Users, isUser, "a user name without colon (RFC 7617 section 2)")
		checkEach(f, path+".methods", r.Methods, isMethod,
			"a method in capitals, such as GET: methods are case-sensitive (RFC 9110 section 9.1)")
		checkEach(f, path+".schemes", r.Schemes, isScheme, "a scheme such as http, or connect: write it without ://")
		checkRuleHosts(f, path+".hosts", r.Hosts)
		for name, files := range r.lists() {
			isPath := func(s string) bool { return strings.HasPrefix(s, "/") }
			checkEach(f, path+"."+name, files, isPath, "a path that begins with a slash")
		}
		checkEach(f, path+".groups", r.Groups, isGroup, "a group name without spaces and colons")
		checkEach(f, path+".paths", r.Paths, isPathPattern,
			"a path such as /private/* or *.exe: write it without host and query")
		if len(r.Hellos) > 0 && r.Action == "allow" {
			f.Add(path+".client_hello", "requires action: deny: the tunnel is open when it is evaluated")
		}
		if len(r.Reason) > maxReason || strings.ContainsFunc(r.Reason, unicode.IsControl) {
			f.Add(path+".reason", "has more than %d bytes, or a control character: write one paragraph", maxReason)
		} else if r.Reason != "" && r.Action == "allow" {
			f.Add(path+".reason", "requires action: deny")
		}
	}
}

// lists returns the list files of a rule, by setting.
func (r ProxyRule) lists() map[string][]string {
	return map[string][]string{
		"clients_from": r.ClientsFrom, "hosts_from": r.HostsFrom, "urls_from": r.URLsFrom,
		"destinations_from": r.DestinationsFrom,
	}
}

// hasLists reports whether a rule has list files, whose content is unknown here.
func (r ProxyRule) hasLists() bool {
	return len(r.ClientsFrom)+len(r.HostsFrom)+len(r.URLsFrom)+len(r.DestinationsFrom) > 0
}

// checkEach checks each text of a list.
func checkEach(f *Diagnostics, path string, texts []string, is func(string) bool, what string) {
	for i, text := range texts {
		if !is(text) {
			f.Add(index(path, i), "%q is not %s", text, what)
		}
	}
}

func isUser(s string) bool { return s != "" && !strings.Contains(s, ":") }

func isGroup(s string) bool { return s != "" && !strings.ContainsAny(s, ": \t") }

func isPathPattern(s string) bool {
	return (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "*")) && !strings.ContainsAny(s, "?# ")
}

// checkZone rejects a name that is not in the time zone database.
func checkZone(f *Diagnostics, path string, value any) {
	name, _ := value.(string)
	if _, err := time.LoadLocation(name); err != nil {
		f.Add(path, "%q is not a time zone such as Europe/Berlin or UTC", name)
	}
}

// isMethod reports whether a text is a token without lower-case letters (RFC 9110 section 5.6.2).
func isMethod(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~") == ""
}

func isScheme(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}

const digits = "0123456789"

func checkRuleHosts(f *Diagnostics, path string, hosts []string) {
	for i, host := range hosts {
		name := strings.TrimPrefix(host, ".")
		if strings.Trim(host, digits+".") != "" && isDomain(name) {
			continue // the common case; the checks below allocate errors
		}
		at := index(path, i)
		if prefix, err := netip.ParsePrefix(host); err == nil {
			if prefix.Addr().Is4In6() {
				f.Add(at, "%s is an IPv4 network in IPv6 form: write it as IPv4", prefix)
			}
			continue
		}
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			continue
		}
		switch {
		case host != "" && strings.Trim(host, "*") == "":
			f.Add(at, "%q matches names without a dot: omit hosts to match all hosts", host)
		case strings.ContainsAny(host, digits) && strings.Trim(host, digits+".*?") == "":
			f.Add(at, "%q is not an address, and patterns match names only: write a range such as 192.0.2.0/24", host)
		case !isDomain(strings.NewReplacer("*", "a", "?", "a").Replace(name)):
			f.Add(at,
				"%q is not a host such as www.example.org, .example.org, *.example.org, 192.0.2.1 or 2001:db8::/32, "+
					"without "+
					"scheme and port%s; write names in other scripts in their ASCII form, such as "+
					"xn--bcher-kva.example",
				host, writeRuleHost(host))
		case strings.ContainsAny(host, "*?") && name != host:
			f.Add(at, "%q is a pattern, and must not begin with a dot", host)
		}
	}
}

// writeRuleHost returns the suggestion for a URL, or for a host with a port.
func writeRuleHost(text string) string {
	if help := writeHost(text, ""); len(help) > len(": ") {
		return help + ", and the port in ports of a rule"
	}
	return ""
}

// The protocols whose gateway can be disabled.
const (
	ProtocolFTP    = "ftp"
	ProtocolGopher = "gopher"
	ProtocolNews   = "news"
	ProtocolWAIS   = "wais"
)

// Has reports whether the gateway of a protocol is enabled.
func (g Gateways) Has(protocol string) bool { return slices.Contains(g.Enabled, protocol) }

// checkGateways checks the templates of external gateways.
func checkGateways(f *Diagnostics, gateways []Gateway) {
	seen := make(map[string]bool)
	for i, g := range gateways {
		path := index("gateways.templates", i)
		name := strings.ToLower(g.Scheme)
		switch {
		case !isScheme(g.Scheme):
			f.Add(path+".scheme", "%q is not a scheme such as wais", g.Scheme)
		case name == "http", name == "https", name == "urn":
			f.Add(path+".scheme", "%q has no gateway", g.Scheme)
		case seen[name]:
			f.Add(path+".scheme", "%q is listed twice", g.Scheme)
		}
		seen[name] = true
		if to, _, _ := strings.Cut(g.Template, ":"); strings.EqualFold(to, g.Scheme) {
			f.Add(path+".template", "%q redirects back to the scheme %s", g.Template, name)
		}
		checkTemplate(f, path+".template", g.Template, []string{"uri", "scheme", "host", "port", "path", "query"})
	}
}

func checkFTPPassword(f *Diagnostics, path string, value any) {
	if text, _ := value.(string); text == "" || strings.ContainsAny(text, "\r\n\x00") {
		f.Add(path, "is empty, or contains a line end")
	}
}

func checkNewsServers(f *Diagnostics, path string, value any) {
	servers, _ := value.([]string)
	checkAddresses(f, path, servers, "tls://", "news.example.org:119", "news.example.org:563")
}
