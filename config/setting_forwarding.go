package config

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// forwardingSettings are the settings of how requests are forwarded.
func forwardingSettings() []Setting {
	return []Setting{
		{
			Path: "proxy.spelling", Default: "normal",
			Doc: "What is sent to origins for clients of the proxy, of the path and query of an http or https URL: the normal form (normal), in which " +
				"octets that are none of URLs are percent-encoded, or what the client sent (exact); redirect redirects clients to the normal form " +
				"(308). Responses are stored by what was sent, so that no spelling is answered for another; rules and purges are about the " +
				"normal form, and so about all spellings. Of scheme, host and port the normal form is always sent. proxy.origins have a setting of their own.",
			OneOf: []string{"normal", "exact", "redirect"}, Former: []string{SpellingOriginal},
		},
		{
			Path: "proxy.forwarded", Default: "transparent",
			Doc: "How clients are named to origins: transparent passes on what they send and adds nothing; off removes it; forwarded " +
				"adds Forwarded (RFC 7239), x-forwarded-for the older field. What access.trusted_proxies say is never passed on: transparent " +
				"makes X-Forwarded-For, X-Real-IP and Forwarded anew where they came. proxy.origins.*.forwarded says it for a site, whose servers " +
				"get neither Forwarded nor X-Forwarded-* but X-Forwarded-For as a client has sent them.",
			OneOf: forwardings(),
		},
		{
			Path: "proxy.underscores_in_fields", Default: false,
			Doc: "Servers of proxy.origins get fields with an underscore in their names. Many programs behind them take X_A for X-A, which another " +
				"client or a proxy may have set. Fields with other characters than letters, digits and hyphens are never passed to them, nor is Proxy to any server.",
		},
		{Path: "proxy.connect_ports", Default: []PortRange{{443, 443}}, Doc: "ports that a tunnel (CONNECT) may lead to", Form: "port, or two joined by a hyphen"},
		{Path: "proxy.connect_addresses", Default: true, Doc: "tunnels to IP addresses, and not only to host names, are allowed"},
		{
			Path: "proxy.upstreams", Default: []Upstream{},
			Doc: "Proxies through which requests are forwarded. The first whose hosts match is used; where there is none, the request goes " +
				"to the origin. Those in private networks must be in access.allow_destinations. None is asked for localhost, or addresses of loopback and " +
				"link-local, nor for others in private networks that are not in access.allow_destinations. The address of a name behind one is not known: " +
				"rules with destinations that deny then hold, and those that allow do not. A list:",
			Form: tableForm,
			Sample: `upstreams:
  # hosts as in rules; empty: all
  - hosts: [.intranet.example]
    server: direct
  # http://, https:// or socks5://, host and port
  - server: https://proxy.example.org:3128
    user: urnd
    # a file
    password: credential:upstream-password
    # of https: as in proxy.origins
    tls: {ca: /etc/urnd/proxy-ca.pem}`,
		},
		{
			Path: "proxy.pac_proxies", Default: []string{},
			Doc: "Addresses of this proxy in /proxy.pac and /wpad.dat, by which browsers configure themselves; https:// is a proxy " +
				"that is reached by TLS. Empty: there are no such files.",
			Sample: "pac_proxies: [proxy.example.org:8141]", Form: "host:port, or https:// and one", check: checkPAC,
		},
		{Path: "proxy.pac_direct", Default: []string{}, Doc: "hosts that browsers reach without the proxy, besides names without a dot", Form: "host name, or a name with all below it (.example.org)", check: checkPACDirect},
		{
			Path: "proxy.origins", Default: []Site{},
			Doc: "Sites that urnd is the gateway of: requests whose Host is one of these go to its servers in turn, through the cache. " +
				"Servers in private networks must be in access.allow_destinations. A list:",
			Form: tableForm,
			Sample: `origins:
  - host: www.example.org
    # http:// or https://, host and port
    servers: [http://192.0.2.10:8080, http://192.0.2.11:8080]
    # what is sent of the path and query: as the client sent it (exact), or in
    # normal form (normal), see proxy.spelling
    spelling: exact
  - host: api.example.org
    servers: [https://192.0.2.12:8443]
    # how the servers learn of the client: off, transparent, forwarded or x-forwarded-for
    forwarded: x-forwarded-for
    # of https servers: who may have signed their certificates, for which name, and the certificate of urnd
    tls:
      ca: /etc/urnd/origin-ca.pem
      server_name: backend.example.org
      certificate: /etc/urnd/client.pem
      key: credential:client-key
      min_version: "1.3"`,
		},
		{
			Path: "proxy.targeted", Default: []string{"CDN-Cache-Control"},
			Doc:  "Fields of responses that replace Cache-Control for proxy.origins (RFC 9213), the most specific first; the forward proxy does not heed them.",
			Form: "field name", check: checkTargeted,
		},
	}
}

// forwardingElements are the settings in their lists of tables.
func forwardingElements() []Setting {
	return slices.Concat([]Setting{
		{Path: "proxy.upstreams.*.hosts", Doc: "hosts as in proxy.rules; empty: all", Form: "host name, pattern, address or address range"},
		{Path: "proxy.upstreams.*.server", Doc: "the proxy, or direct; it must be set", Form: "http://, https:// or socks5://, host and port"},
		{Path: "proxy.upstreams.*.user", Doc: "the user that urnd logs in as; empty: it does not", Form: "user"},
		{Path: "proxy.upstreams.*.password", Doc: "the file of the password", Form: "path, or credential: and a name"},
		{Path: "proxy.upstreams.*.tls", Doc: "TLS with an https proxy, as in proxy.origins"},
		{Path: "proxy.origins.*.host", Doc: "the host of the site, without port; it must be set", Form: "host name"},
		{Path: "proxy.origins.*.servers", Doc: "its servers; one must be set", Form: "http:// or https://, host and port"},
		{Path: "proxy.origins.*.spelling", Doc: "what is sent of the path and query, as in proxy.spelling; empty: exact", OneOf: siteSpellings()},
		{
			Path: "proxy.origins.*.forwarded",
			Doc: "how its servers are told of the client, and how it came: by X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-Port, and besides " +
				"of the client as proxy.forwarded has it, where forwarded has host and proto, too; off tells them nothing at all; empty: as proxy.forwarded, and off of that is about the client alone. " +
				"How it came is what urnd knows, or access.trusted_proxies say, and never what a client says",
			OneOf: forwardings(),
		},
		{Path: "proxy.origins.*.tls", Doc: "TLS with its https servers; the files are read again at each reload"},
	}, tlsElements("proxy.upstreams.*.tls"), tlsElements("proxy.origins.*.tls"))
}

func forwardings() []string { return []string{"transparent", "off", "forwarded", "x-forwarded-for"} }

// siteSpellings are the values of proxy.origins.*.spelling.
func siteSpellings() []string { return []string{"exact", "normal"} }

// SpellingOriginal is a value of proxy.spelling that was: it sent what the client sent, and stored it for all spellings. It
// is accepted as exact.
const SpellingOriginal = "original"

// warnOfSpelling says what to write for a value that was.
func warnOfSpelling(f *Faults, spelling string) {
	if spelling == SpellingOriginal {
		f.add("proxy.spelling", "original is exact now, which keeps responses to different spellings apart: write exact")
	}
}

// tlsElements are the settings of TLS with the servers of a list.
func tlsElements(path string) []Setting {
	return []Setting{
		{Path: path + ".ca", Doc: "the certificates of the authorities that the server's is believed of, in PEM; empty: those of the system", Form: "path, or credential: and a name"},
		{Path: path + ".server_name", Doc: "the name that its certificate must have, and that it is asked for; empty: the host in its URL", Form: "host name"},
		{Path: path + ".certificate", Doc: "the certificate of urnd, followed by those of its issuers, for a server that asks for one", Form: "path, or credential: and a name"},
		{Path: path + ".key", Doc: "its key", Form: "path, or credential: and a name"},
		{Path: path + ".min_version", Doc: "the least version of TLS; empty: 1.2 (RFC 8996)", OneOf: tlsVersions()},
	}
}

func tlsVersions() []string { return []string{"1.2", "1.3"} }

// checkServerTLS checks how a server is authenticated, where isHTTPS is whether there is one with TLS.
func checkServerTLS(f *Faults, path string, c ServerTLS, isHTTPS bool) {
	if c == (ServerTLS{}) {
		return
	}
	if !isHTTPS {
		f.add(path, "is for https, and there is no https server")
	}
	if (c.Certificate == "") != (c.Key == "") {
		f.add(path+".certificate", "and key go together")
	}
	checkKeyFile(f, path+".key", c.Key)
	if c.ServerName != "" && !isHost(c.ServerName) {
		f.add(path+".server_name", "%q is not a host such as www.example.org, without port", c.ServerName)
	}
	if c.MinVersion != "" {
		Setting{Path: path + ".min_version", OneOf: tlsVersions()}.validate(f, c.MinVersion)
	}
}

func checkPAC(f *Faults, path string, value any) {
	addresses, _ := value.([]string)
	checkAddresses(f, path, addresses, "https://", "proxy.example.org:8141", "proxy.example.org:8141")
}

// checkAddresses checks hosts with ports, with or without a prefix; sample is one without, and behindPrefix what follows it.
func checkAddresses(f *Faults, path string, addresses []string, prefix, sample, behindPrefix string) {
	for i, address := range addresses {
		if strings.Contains(address, "@") {
			f.add(index(path, i), hasUserinfo)
			continue
		}
		host, port, err := net.SplitHostPort(strings.TrimPrefix(address, prefix))
		if n, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || n == 0 || !isHost(host) {
			help := writeAddress(address, sample)
			if strings.HasPrefix(address, prefix) {
				help = strings.Replace(writeAddress(address, behindPrefix), "write ", "write "+prefix, 1)
			}
			f.add(index(path, i), "%q is not host:port%s", address, help)
		}
	}
}

func checkPACDirect(f *Faults, path string, value any) {
	hosts, _ := value.([]string)
	for i, host := range hosts {
		if !isHost(strings.TrimPrefix(host, ".")) {
			f.add(index(path, i), "%q is not a host such as www.example.org or .example.org%s", host, writeHost(host, "write ."+strings.TrimLeft(host, "*.")))
		}
	}
}

// isHost reports whether a text is a domain name or an IP address.
func isHost(s string) bool {
	return isDomain(s) || net.ParseIP(s) != nil
}

func checkTargeted(f *Faults, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		if name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			f.add(index(path, i), "%q is not the name of a field such as CDN-Cache-Control", name)
		}
	}
}

// upstreamSchemes are those of proxies.
func upstreamSchemes() []string { return []string{"http", "https", "socks5"} }

func checkUpstreams(f *Faults, upstreams []Upstream) {
	for i, u := range upstreams {
		path := index("proxy.upstreams", i)
		checkRuleHosts(f, path+".hosts", u.Hosts)
		if u.Password != "" {
			checkSecretFile(f, path+".password", u.Password)
		}
		switch {
		case u.User != "" && u.Password == "":
			f.add(path+".user", "%q cannot log in: password is missing, a file", u.User)
		case u.User == "" && u.Password != "":
			f.add(path+".password", "is not used: user is missing")
		case u.User != "" && u.Server == "direct":
			f.add(path+".user", "is not used: server is direct, where nobody asks for it")
		}
		checkUpstreamServer(f, path+".server", u.Server)
		checkServerTLS(f, path+".tls", u.TLS, strings.HasPrefix(u.Server, "https://"))
	}
}

// checkUpstreamServer does not show what it refuses: it may have a password.
func checkUpstreamServer(f *Faults, path, server string) {
	const form = "is not direct, or http://, https:// or socks5:// with a host and a port"
	if server == "direct" {
		return
	}
	scheme, address, ok := strings.Cut(server, "://")
	host, port, err := net.SplitHostPort(address)
	_, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case server == "":
		f.add(path, "is missing: write direct, or http://, https:// or socks5:// with a host and a port")
	case strings.Contains(server, "@"):
		f.add(path, "%s; its value is not shown, since it may have a password: write user and password below it", form)
	case !ok:
		f.add(path, "%s: it has no scheme; its value is not shown, since it may have a password", form)
	case strings.HasSuffix(address, "/"):
		f.add(path, "%s: write it without a slash at its end", form)
	case err != nil && isHost(address):
		f.add(path, "%s: it has no port", form)
	case err != nil || portErr != nil || !isHost(host):
		f.add(path, "%s; its value is not shown, since it may have a password", form)
	default:
		Setting{Path: path, OneOf: upstreamSchemes()}.validate(f, scheme)
	}
}

func checkSites(f *Faults, origins []Site) {
	seen := make(map[string]bool)
	for i, o := range origins {
		path := index("proxy.origins", i)
		switch name := uri.CanonicalDomain(o.Host); {
		case !isHost(o.Host):
			f.add(path+".host", "%q is not a host such as www.example.org, without port%s", o.Host, writeHost(o.Host, "there are no patterns: list each site"))
		case seen[name]:
			f.add(path+".host", "%q is configured twice", o.Host)
		default:
			seen[name] = true
		}
		if len(o.Servers) == 0 {
			f.add(path+".servers", "names no server")
		}
		for j, server := range o.Servers {
			checkServer(f, index(path+".servers", j), server)
		}
		if o.Spelling != "" {
			Setting{Path: path + ".spelling", OneOf: siteSpellings()}.validate(f, o.Spelling)
		}
		if o.Forwarded != "" {
			Setting{Path: path + ".forwarded", OneOf: forwardings()}.validate(f, o.Forwarded)
		}
		checkServerTLS(f, path+".tls", o.TLS, slices.ContainsFunc(o.Servers, func(server string) bool { return strings.HasPrefix(strings.ToLower(server), "https:") }))
	}
}
