package config

import (
	"net"
	"strconv"
	"strings"
)

// Proxy says what the forward proxy passes on.
type Proxy struct {
	Policy   string      `mapstructure:"policy"` // "enforce", "report" or "open"
	Rules    []ProxyRule `mapstructure:"rules"`  // the first that holds decides
	Spelling string      `mapstructure:"spelling"`
	// Forwarded says how clients are named to origins.
	Forwarded string `mapstructure:"forwarded"`
	// Underscores is whether sites get fields with "_" in their names.
	Underscores  bool        `mapstructure:"underscores_in_fields"`
	ConnectPorts []PortRange `mapstructure:"connect_ports"`
	Upstreams    []Upstream  `mapstructure:"upstreams"`   // the first that holds is used
	PACProxies   []string    `mapstructure:"pac_proxies"` // addresses in /proxy.pac; empty: there is none
	PACDirect    []string    `mapstructure:"pac_direct"`
	Origins      []Site      `mapstructure:"origins"`
	Targeted     []string    `mapstructure:"targeted"` // fields that replace Cache-Control: RFC 9213
}

func proxySettings() []Setting {
	return []Setting{
		{
			Path: "proxy",
			Doc: "The forward proxy, and the sites that urnd is the gateway of. Who may use the proxy is in " +
				"access.proxy_clients and access.proxy_users.",
		},
		{
			Path: "proxy.policy", Default: "enforce", OneOf: policies(), Invalidates: Nothing,
			Doc: "What the rules do: enforce refuses what they deny (403); report passes it on, and logs what would " +
				"be refused; open does not look at them.",
		},
		{
			Path: "proxy.rules", Default: []ProxyRule{}, Form: tableForm, Invalidates: Nothing, Elements: ruleElements(),
			Doc: "What the clients of the proxy may ask for. The first rule of which all conditions hold decides; " +
				"where there is none, the request is allowed. urnd access test says which rule decides a request, and " +
				"why. A list:",
			Sample: `rules:
  # the name of the rule in logs, for the client, and in Proxy-Status
  - id: no-metadata
    action: deny
    # addresses that are dialled, whatever the host is called
    destinations: [169.254.0.0/16]
  - id: packages
    # allow or deny
    action: allow
    # conditions: all that are given must hold; the values of one are alternatives
    clients: [10.1.0.0/16]
    users: [ci]
    methods: [GET, HEAD, CONNECT]
    # of URLs; connect stands for CONNECT, by which clients ask for https
    schemes: [http, connect]
    # a name; a name with all below it; a pattern, in which * stands for any characters
    # of one label, and ? for one of them; addresses and ranges, as they are in URLs
    hosts: [www.example.org, .example.com, '*.cdn-?.example.net', 192.0.2.0/24]
    ports: [80, 443, 8000-8999]
  # all other requests: a rule without conditions
  - id: default
    action: deny
    # what the page says to its reader
    reason: 'This is not for the reading room. Ask at the desk.'`,
		},
		{
			Path: "proxy.spelling", Default: "normal",
			OneOf: []string{"normal", "exact", "redirect"}, Former: []string{SpellingOriginal}, Invalidates: Nothing,
			Doc: "What is sent to origins for clients of the proxy, of the path and query of an http or https URL: " +
				"the normal form (normal), in which octets that are none of URLs are percent-encoded, or what the " +
				"client sent (exact); redirect redirects clients to the normal form (308). Responses are stored by " +
				"what was sent, so that no spelling is answered for another; rules and purges are about the normal " +
				"form, and so about all spellings. Of scheme, host and port the normal form is always sent. " +
				"proxy.origins have a setting of their own.",
		},
		{
			Path: "proxy.forwarded", Default: "transparent", OneOf: forwardings(), Invalidates: Nothing,
			Doc: "How clients are named to origins: transparent passes on what they send and adds nothing; off " +
				"removes it; forwarded adds Forwarded (RFC 7239), x-forwarded-for the older field. What " +
				"access.trusted_proxies say is never passed on: transparent makes X-Forwarded-For, X-Real-IP and " +
				"Forwarded anew where they came. proxy.origins.*.forwarded says it for a site, whose servers get " +
				"neither Forwarded nor X-Forwarded-* but X-Forwarded-For as a client has sent them.",
		},
		{
			Path: "proxy.underscores_in_fields", Default: false, Invalidates: Nothing,
			Doc: "Servers of proxy.origins get fields with an underscore in their names. Many programs behind them " +
				"take X_A for X-A, which another client or a proxy may have set. Fields with other characters than " +
				"letters, digits and hyphens are never passed to them, nor is Proxy to any server.",
		},
		{
			Path: "proxy.connect_ports", Default: []PortRange{{443, 443}},
			Form: "port, or two joined by a hyphen", Invalidates: Nothing,
			Doc: "ports that a tunnel (CONNECT) may lead to",
		},
		{
			Path: "proxy.upstreams", Default: []Upstream{},
			Form: tableForm, Invalidates: Responses | Disk, Elements: upstreamElements(),
			Doc: "Proxies through which requests are forwarded. The first whose hosts match is used; where there is " +
				"none, the request goes to the origin. Those in private networks must be in " +
				"access.allow_destinations. None is asked for localhost, or addresses of loopback and link-local, nor " +
				"for others in private networks that are not in access.allow_destinations. The address of a name " +
				"behind one is not known: rules with destinations that deny then hold, and those that allow do not. A " +
				"list:",
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
			Form: "host:port, or https:// and one", check: checkPAC, Invalidates: Nothing,
			Doc: "Addresses of this proxy in /proxy.pac and /wpad.dat, by which browsers configure themselves; " +
				"https:// is a proxy that is reached by TLS. Empty: there are no such files.",
			Sample: "pac_proxies: [proxy.example.org:8141]",
		},
		{
			Path: "proxy.pac_direct", Default: []string{},
			Form: "host name, or a name with all below it (.example.org)", check: checkPACDirect, Invalidates: Nothing,
			Doc: "hosts that browsers reach without the proxy, besides names without a dot",
		},
		{
			Path: "proxy.origins", Default: []Site{}, Form: tableForm, Invalidates: Responses | Disk, Elements: siteElements(),
			Doc: "Sites that urnd is the gateway of: requests whose Host is one of these go to its servers in turn, " +
				"through the cache. Servers in private networks must be in access.allow_destinations. A list:",
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
			Form: "field name", check: checkTargeted, Invalidates: Responses | Disk,
			Doc: "Fields of responses that replace Cache-Control for proxy.origins (RFC 9213), the most specific " +
				"first; the forward proxy does not heed them.",
		},
	}
}

func forwardings() []string { return []string{"transparent", "off", "forwarded", "x-forwarded-for"} }

// SpellingOriginal is a value of proxy.spelling that was: it sent what the client sent, and stored it for all spellings. It
// is accepted as exact.
const SpellingOriginal = "original"

// warnOfSpelling says what to write for a value that was.
func warnOfSpelling(f *Faults, spelling string) {
	if spelling == SpellingOriginal {
		f.add("proxy.spelling", "original is exact now, which keeps responses to different spellings apart: write exact")
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
			f.add(index(path, i), "%q is not a host such as www.example.org or .example.org%s", host,
				writeHost(host, "write ."+strings.TrimLeft(host, "*.")))
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

func policies() []string { return []string{"enforce", "report", "open"} }
