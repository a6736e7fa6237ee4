package config

import (
	"slices"
	"strings"
)

// The protocols that a gateway can be turned off for.
const (
	ProtocolFTP    = "ftp"
	ProtocolGopher = "gopher"
	ProtocolNews   = "news"
	ProtocolWAIS   = "wais"
)

// Has reports whether a protocol is one of Enabled.
func (g Gateways) Has(protocol string) bool { return slices.Contains(g.Enabled, protocol) }

// checkGateways checks the templates of other gateways.
func checkGateways(f *Faults, gateways []Gateway) {
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
			f.Add(path+".scheme", "%q is named twice", g.Scheme)
		}
		seen[name] = true
		if to, _, _ := strings.Cut(g.Template, ":"); strings.EqualFold(to, g.Scheme) {
			f.Add(path+".template", "%q leads back to the scheme %s", g.Template, name)
		}
		checkTemplate(f, path+".template", g.Template, []string{"uri", "scheme", "host", "port", "path", "query"})
	}
}

func checkFTPPassword(f *Faults, path string, value any) {
	if text, _ := value.(string); text == "" || strings.ContainsAny(text, "\r\n\x00") {
		f.Add(path, "is empty, or has a line end")
	}
}

func checkNewsServers(f *Faults, path string, value any) {
	servers, _ := value.([]string)
	checkAddresses(f, path, servers, "tls://", "news.example.org:119", "news.example.org:563")
}
