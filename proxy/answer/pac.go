package answer

import (
	"encoding/json"
	"strings"

	"github.com/urnd/urnd/uri"
)

// PAC is the file by which browsers configure themselves (proxy auto-configuration).
type PAC struct {
	// Proxies are the addresses of this proxy, "host:port", by TLS where "https://" is before it;
	// browsers use the next one where one fails. None: there is no such file.
	Proxies []string
	// Direct are hosts that browsers reach without the proxy, besides names without a dot: names,
	// names with all below them (".example.org"), and IP addresses.
	Direct []string
}

// Static returns the file, nil where there is none.
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
	for _, host := range p.Direct {
		host = uri.CanonicalHost(host)
		condition := "host === " + quote(host)
		if below := strings.TrimPrefix(host, "."); below != host {
			condition = "host === " + quote(below) + " || dnsDomainIs(host, " + quote(host) + ")"
		}
		b.WriteString("  if (" + condition + ") return \"DIRECT\";\n")
	}
	b.WriteString("  return " + quote(strings.Join(chain, "; ")) + ";\n}\n")
	return NewStatic("application/x-ns-proxy-autoconfig", []byte(b.String()))
}

// The paths of the file.
const (
	PathPAC  = "/proxy.pac"
	PathWPAD = "/wpad.dat"
)

const pacHead = `function FindProxyForURL(url, host) {
  host = host.toLowerCase().replace(/[.]$/, "");
  if (isPlainHostName(host) || host === "127.0.0.1" || host === "::1") return "DIRECT";
`

// quote returns a text as a string of JavaScript.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return `""` // a text does not fail
	}
	return string(quoted)
}
