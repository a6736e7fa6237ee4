package config

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Listen holds the addresses that urnd listens on, "host:port".
type Listen struct {
	Service []string `mapstructure:"service"`
	TLS     []string `mapstructure:"tls"`   // empty: no such listener
	Admin   string   `mapstructure:"admin"` // or "unix:/path"; empty: no such listener
	// RedirectTLS redirects requests to Service, but not those to the proxy, to https.
	RedirectTLS bool `mapstructure:"redirect_tls"`
	// HTTP2 offers HTTP/2 by TLS.
	HTTP2 bool `mapstructure:"http2"`
	// ProxyProtocol are the addresses that send the PROXY protocol.
	ProxyProtocol []netip.Prefix `mapstructure:"proxy_protocol"`
	// Names are host names of this urnd, besides localhost and the name of the machine.
	Names []string `mapstructure:"names"`
	// PublicURL is the URL by which clients reach the service, without a slash at its end; "" is the one that each uses.
	PublicURL string `mapstructure:"public_url"`
}

func listenSettings() []Setting {
	return []Setting{
		{
			Path: "listen", Invalidates: Nothing,
			Doc: "The addresses to listen on. Port 0 selects a free port. Sockets that systemd passes under the names " +
				"http, https and admin replace service, tls and admin.",
		},
		{
			Path: "listen.service", Default: []string{"127.0.0.1:8141"}, Form: "host:port", check: checkListenList,
			Doc: "names, URLs and the forward proxy, at one address or several",
		},
		{
			Path: "listen.tls", Default: []string{}, Form: "host:port", check: checkListenList,
			Doc: "the same over TLS, with the certificate of tls; empty turns it off",
		},
		{
			Path: "listen.redirect_tls",
			Doc: "redirect requests for names that come to service to https, except from trusted_proxies; it needs a " +
				"listener for TLS",
		},
		{
			Path: "listen.http2", Default: true,
			Doc: "offer HTTP/2 by TLS; sites that log in by NTLM or Negotiate (Kerberos) need HTTP/1.1, which " +
				"browsers use where it is the only one",
		},
		{
			Path: "listen.admin", Default: "127.0.0.1:8142", Form: "host:port, or unix: and a path", check: checkAdminListen,
			Doc: "health, metrics and the caches; unix:/run/urnd/admin.sock is a socket in the file system; empty turns it off",
		},
		{
			Path: "listen.names", Default: []string{}, Form: "host name", check: checkDomainList,
			Doc: "Host names by which clients reach urnd, besides its addresses, localhost and the name of the " +
				"machine. The admin interface refuses requests for other hosts, and service lends them no rights that " +
				"only this machine has, nor browsers over http what is retrieved: a page of another site may have led " +
				"a browser here (DNS rebinding).",
			Sample: "names: [urn.example.org]",
		},
		{
			Path: "listen.public_url", Form: "http:// or https://, a host and perhaps a path", check: checkPublicURL,
			Doc: "The URL by which clients reach service, for the links in answers: Link fields and linksets. Empty: that of each request, by " +
				"its Host and, from trusted_proxies, X-Forwarded-Proto.",
			Sample: "public_url: https://urn.example.org",
		},
		{
			Path: "listen.proxy_protocol", Default: []netip.Prefix{}, Form: "address range", check: checkPrefixList,
			Doc: "Senders, such as load balancers, whose connections to service and tls begin with the address of the " +
				"client, by the PROXY protocol, version 1 or 2.",
		},
	}
}

// maxPublicURL bounds listen.public_url, in octets: it is several times in each answer.
const maxPublicURL = 200

func checkPublicURL(f *Faults, path string, value any) {
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
	case err != nil, u.Scheme() != "http" && u.Scheme() != "https", host == "", hasQuery, hasFragment, hasUser, strings.ContainsAny(text, ",;"):
		f.add(path, "%q is no URL of a server, such as https://urn.example.org", text)
	case strings.HasSuffix(text, "/"):
		f.add(path, "%q ends with a slash: write %s", text, strings.TrimRight(text, "/"))
	case len(text) > maxPublicURL:
		f.add(path, "has more than %d octets", maxPublicURL)
	}
}

func checkListenList(f *Faults, path string, value any) {
	addresses, _ := value.([]string)
	for i, address := range addresses {
		checkListen(f, index(path, i), address)
	}
}

func checkOptionalListen(f *Faults, path string, value any) {
	if address, _ := value.(string); address != "" {
		checkListen(f, path, address)
	}
}

// UnixPrefix marks the address of a Unix domain socket.
const UnixPrefix = "unix:"

func checkAdminListen(f *Faults, path string, value any) {
	address, _ := value.(string)
	socket, isSocket := strings.CutPrefix(address, UnixPrefix)
	switch {
	case !isSocket:
		checkOptionalListen(f, path, value)
	case !strings.HasPrefix(socket, "/"):
		f.add(path, "%q has no path that begins with a slash after unix:", address)
	}
}

func checkListen(f *Faults, path, address string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		f.add(path, "%q is not host:port%s", address, writeAddress(address, "127.0.0.1:8141"))
		return
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		f.add(path, "%q has no port between 0 and 65535", address)
	} else if _, err := netip.ParseAddr(host); host != "" && host != "localhost" && err != nil {
		f.add(path, "%q does not begin with an IP address (port %d)", address, n)
	}
}

// warnOfNames warns where others than this machine have resources retrieved over http, and urnd knows no name of its own by which
// they come: their browsers are refused.
func warnOfNames(f *Faults, c Config) {
	isOpen := !c.Listen.RedirectTLS && (slices.ContainsFunc(c.Listen.Service, isForOthers) || len(c.Listen.ProxyProtocol) > 0)
	hasOthers := slices.ContainsFunc(c.Access.ProxyClients, func(p netip.Prefix) bool { return !isLoopback(p) })
	if len(c.Listen.Names) == 0 && hasOthers && (isOpen || len(c.Access.TrustedProxies) > 0) {
		f.add("listen.names", "is empty: browsers that come to listen.service by another name than localhost and that of the machine "+
			"are refused what is retrieved for access.proxy_clients (/fetch, N2R): list the names that they use")
	}
}
