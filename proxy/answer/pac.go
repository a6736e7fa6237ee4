package answer

import (
	"encoding/json"
	"net"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/uri"
)

// PAC is the configuration of a proxy auto-configuration file.
type PAC struct {
	// Proxies are the addresses of this proxy, "host:port", with the prefix "https://" for TLS. Browsers use
	// the next one if one fails. No addresses disable the file.
	Proxies []string
	// Direct are hosts that browsers reach without the proxy, besides names without a dot: names, domains
	// with all subdomains (".example.org"), and IP addresses.
	Direct []string
	// Rules are for further hosts; the first rule that matches applies.
	Rules []PACRule
}

// PACRule selects how browsers reach hosts, in the syntax of the site rules; without Hosts it matches all.
type PACRule struct {
	Hosts  []string
	Direct bool // without the proxy
}

// Static returns the file, nil if it is disabled.
func (p PAC) Static() *Static {
	if len(p.Proxies) == 0 {
		return nil
	}
	chain := make([]string, 0, len(p.Proxies))
	for _, address := range p.Proxies {
		if secure, ok := strings.CutPrefix(address, "https://"); ok {
			chain = append(chain, "HTTPS "+secure)
		} else {
			chain = append(chain, "PROXY "+address)
		}
	}
	var b strings.Builder
	b.WriteString(pacHead)
	proxied := "return " + quote(strings.Join(chain, "; ")) + ";\n"
	for _, host := range p.Direct {
		b.WriteString("  if (" + pacCondition(host) + ") return \"DIRECT\";\n")
	}
	for _, rule := range p.Rules {
		var conditions []string
		for _, host := range rule.Hosts {
			conditions = append(conditions, pacCondition(host))
		}
		then := proxied
		if rule.Direct {
			then = "return \"DIRECT\";\n"
		}
		if len(conditions) == 0 {
			conditions = append(conditions, "true")
		}
		b.WriteString("  if (" + strings.Join(conditions, " || ") + ") " + then)
	}
	b.WriteString("  " + proxied + "}\n")
	return NewStatic("application/x-ns-proxy-autoconfig", []byte(b.String()))
}

// pacCondition returns the JavaScript condition that matches a host of a rule: a name, a domain with all
// subdomains, a pattern, an address or a range. It needs no DNS lookup.
func pacCondition(host string) string {
	if prefix, err := netip.ParsePrefix(host); err == nil {
		if !prefix.Addr().Is4() {
			return "/:/.test(host) && typeof isInNetEx === \"function\" && isInNetEx(host, " +
				quote(prefix.Masked().String()) + ")"
		}
		mask := net.IP(net.CIDRMask(prefix.Bits(), 32)).String()
		return "/^[0-9.]+$/.test(host) && isInNet(host, " + quote(prefix.Masked().Addr().String()) + ", " +
			quote(mask) + ")"
	}
	host = uri.CanonicalHost(host)
	below := strings.TrimPrefix(host, ".")
	switch {
	case strings.ContainsAny(host, "*?"):
		pattern := strings.NewReplacer("*", "[^.]*", "?", "[^.]", ".", "[.]").Replace(host)
		return "/^" + pattern + "$/.test(host)"
	case below != host:
		return "host === " + quote(below) + " || dnsDomainIs(host, " + quote(host) + ")"
	default:
		return "host === " + quote(host)
	}
}

// Paths of the file.
const (
	PathPAC  = "/proxy.pac"
	PathWPAD = "/wpad.dat"
)

const pacHead = `function FindProxyForURL(url, host) {
  host = host.toLowerCase().replace(/[.]$/, "");
  if (isPlainHostName(host) || host === "127.0.0.1" || host === "::1") return "DIRECT";
`

// quote returns a text as a JavaScript string.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return `""` // a string does not fail
	}
	return string(quoted)
}
