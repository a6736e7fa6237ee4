package squidconf

import (
	"math"
	"net"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// options returns the options of a line behind its first words: name=value, or a name with an empty value.
func (d Directive) options(from int) map[string]string {
	all := make(map[string]string)
	words := d.Arguments()
	for _, word := range words[min(from, len(words)):] {
		name, value, _ := strings.Cut(word, "=")
		all[name] = value
	}
	return all
}

func firstOf(options map[string]string, names ...string) string {
	for _, name := range names {
		if value := options[name]; value != "" {
			return value
		}
	}
	return ""
}

// httpPort carries a listener over.
func (c *conversion) httpPort(d Directive) {
	words := d.Arguments()
	if len(words) == 0 {
		c.lose(d, "it has no port", "listen.service")
		return
	}
	options := d.options(1)
	if other, instead := otherListener(options); other != "" {
		c.lose(d, other+": missing", instead)
		return
	}
	host, port, splitErr := net.SplitHostPort(words[0])
	if splitErr != nil {
		host, port = "", words[0]
	}
	_, notAddress := netip.ParseAddr(host)
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host != "" && notAddress != nil && !isName(host) {
		c.lose(d, "its port is not a number from 1 to 65535, or its host is none", "listen.service")
		return
	}
	if host == "" {
		host = "::" // and all IPv4 addresses
	}
	setting := "listen.service"
	if certificate := firstOf(options, "tls-cert", "cert"); d.Name == "https_port" || certificate != "" {
		setting = "listen.tls"
		if !c.certificate(d, certificate, options) {
			return
		}
	}
	c.seen[setting] = append(c.seen[setting], net.JoinHostPort(host, port))
	if site := options["defaultsite"]; site != "" {
		name, _, _ := strings.Cut(site, ":")
		c.sites = append(c.sites, name)
	}
	c.set(d, setting, list(c.seen[setting], "  "))
}

// otherListener returns an option of a listener that urnd has not, "" for none.
func otherListener(options map[string]string) (name, instead string) {
	for _, name := range []string{"intercept", "transparent", "tproxy", "ssl-bump"} {
		if _, ok := options[name]; ok {
			return name, "/proxy.pac, by which browsers find the proxy (proxy.pac_proxies)"
		}
	}
	if _, ok := options["require-proxy-header"]; ok {
		return "require-proxy-header", "listen.proxy_protocol"
	}
	return "", ""
}

// certificate carries that of a listener over, and reports whether it has one.
func (c *conversion) certificate(d Directive, certificate string, options map[string]string) bool {
	if certificate == "" {
		c.lose(d, "it has no certificate", "listen.tls, tls.certificate and tls.key")
		return false
	}
	key := firstOf(options, "tls-key", "key")
	if key == "" {
		key = certificate
	}
	c.set(d, "tls.certificate", quote(certificate))
	c.set(d, "tls.key", quote(key))
	if firstOf(options, "clientca", "tls-clientca") != "" {
		c.lose(d, "certificates of clients: missing", "access.proxy_users")
	}
	return true
}

// login carries users over whose hashes urnd verifies.
func (c *conversion) login(d Directive) {
	words := d.Arguments()
	if len(words) < 2 {
		c.lose(d, "it has no scheme and parameter", "access.proxy_users")
		return
	}
	switch scheme, parameter := strings.ToLower(words[0]), words[1]; {
	case scheme == "negotiate":
		c.negotiateParameter(d, parameter, words[2:])
	case scheme != "basic":
		c.lose(d, scheme+": missing", "access.helpers, for passwords or negotiate")
	case parameter != "program":
		c.basicParameter(d, parameter, words[2:])
	case len(words) < 3 || !strings.HasPrefix(words[2], "/"):
		c.lose(d, "it has no program", "access.helpers")
	case path.Base(words[2]) == "basic_ncsa_auth" && len(words) == 4 && c.htpasswd(d, words[3]):
	default:
		c.passwordProgram(d, words[2:])
	}
}

// htpasswd carries a file of users over, and reports whether urnd can verify its hashes: else the program of Squid does that.
func (c *conversion) htpasswd(d Directive, name string) bool {
	lines, err := readList(c.files, name)
	if err != nil || len(lines) == 0 {
		return false
	}
	for _, line := range lines {
		if _, hash, ok := strings.Cut(line, ":"); !ok || !strings.HasPrefix(hash, "$2") {
			return false
		}
	}
	c.usersFile = name
	c.set(d, "access.proxy_users", quote(name))
	return true
}

func (c *conversion) hostname(d Directive) {
	if words := d.Arguments(); len(words) == 1 && isName(strings.ToLower(words[0])) && !strings.HasPrefix(words[0], ".") {
		c.set(d, "listen.names", list(words, "  "))
		return
	}
	c.lose(d, "it is not the name of a host", "listen.names")
}

func (c *conversion) forwardedFor(d Directive) {
	modes := map[string]string{"on": "x-forwarded-for", "off": "'off'", "delete": "'off'", "transparent": "transparent"}
	if words := d.Arguments(); len(words) == 1 && modes[words[0]] != "" {
		c.set(d, "proxy.forwarded", modes[words[0]])
		return
	}
	c.document.set("proxy.forwarded", "'off'", from(d))
	c.lose(d, "this mode: missing", "proxy.forwarded")
}

func (c *conversion) via(d Directive) {
	if slices.Equal(d.Arguments(), []string{"off"}) {
		c.lose(d, "Via is always sent (RFC 9110 section 7.6.3)", "nothing: without it loops are not found")
	}
}

func (c *conversion) nameServers(d Directive) {
	for _, word := range d.Arguments() {
		if _, err := netip.ParseAddr(word); err != nil {
			c.lose(d, "a name server is an address", "dns.servers")
			continue
		}
		c.seen["dns.servers"] = append(c.seen["dns.servers"], word)
	}
	if len(c.seen["dns.servers"]) > 0 {
		c.set(d, "dns.servers", list(c.seen["dns.servers"], "  "))
	}
}

func (c *conversion) headerSize(d Directive) {
	if size, ok := c.size(d, 1); ok {
		c.set(d, "limits.header", sizeText(min(max(size, 8<<10), 16<<20)))
	}
}

func (c *conversion) clientConnections(d Directive) {
	words := d.Arguments()
	if len(words) == 1 && isInteger(words[0]) {
		c.set(d, "limits.client_connections", strconv.Itoa(min(max(atoi(words[0]), 0), 1_000_000)))
		return
	}
	c.lose(d, "it is no number", "limits.client_connections")
}

// timeout returns what carries a duration over, within the bounds of the setting in seconds.
func timeout(setting string, least, most float64) func(*conversion, Directive) {
	return func(c *conversion, d Directive) {
		seconds, ok := secondsOf(d.Arguments())
		if !ok {
			c.lose(d, "it is no duration", setting)
			return
		}
		c.set(d, setting, strconv.FormatInt(int64(min(max(seconds, least), most)), 10)+"s")
	}
}

// secondsOf reads a duration such as 2 minutes; without a unit it is seconds.
func secondsOf(words []string) (float64, bool) {
	if len(words) == 0 {
		return 0, false
	}
	n, err := strconv.ParseFloat(words[0], 64)
	if err != nil || n < 0 || math.IsNaN(n) {
		return 0, false
	}
	unit := 1.0
	if len(words) > 1 {
		units := map[string]float64{"millisecond": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "fortnight": 1209600}
		known, ok := units[strings.TrimSuffix(strings.ToLower(words[1]), "s")]
		if !ok {
			return 0, false
		}
		unit = known
	}
	return n * unit, true
}
