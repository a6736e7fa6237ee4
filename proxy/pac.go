package proxy

import (
	"encoding/json"
	"strings"

	"github.com/urnd/urnd/proxy/answer"
)

// NewPAC returns the file by which browsers configure themselves (proxy auto-configuration). They
// use the proxies at these addresses, "host:port", by TLS where "https://" is before it, the next
// one where one fails, and reach some hosts directly: names, names with all below them
// (".example.org"), IP addresses, and names without a dot.
func NewPAC(proxies, direct []string) *answer.Static {
	chain := make([]string, 0, len(proxies))
	for _, address := range proxies {
		if secure, ok := strings.CutPrefix(address, "https://"); ok {
			chain = append(chain, "HTTPS "+secure)
		} else {
			chain = append(chain, "PROXY "+address)
		}
	}
	var b strings.Builder
	b.WriteString(pacHead)
	for _, host := range direct {
		host = strings.ToLower(host)
		condition := "host === " + quote(host)
		if below := strings.TrimPrefix(host, "."); below != host {
			condition = "host === " + quote(below) + " || dnsDomainIs(host, " + quote(host) + ")"
		}
		b.WriteString("  if (" + condition + ") return \"DIRECT\";\n")
	}
	b.WriteString("  return " + quote(strings.Join(chain, "; ")) + ";\n}\n")
	return answer.NewStatic("application/x-ns-proxy-autoconfig", []byte(b.String()))
}

const pacHead = `function FindProxyForURL(url, host) {
  host = host.toLowerCase();
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
