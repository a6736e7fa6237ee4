package webserver

import (
	"regexp"
	"slices"
	"strings"
)

// serving returns the virtual host for the base: the first one with its name and its port, or else the
// default. If no virtual host has the port, TLS is assumed to be terminated before the server.
func (a *apache) serving(hosts []*directive) (best *directive) {
	most := -1
	for _, host := range hosts {
		rank := 0
		if slices.ContainsFunc(strings.Fields(host.rest), func(addr string) bool {
			addr = strings.Trim(addr, `"`)
			return addr == "*" || addr == "_default_" || strings.HasSuffix(addr, ":*") ||
				strings.HasSuffix(addr, ":"+a.port)
		}) {
			rank++
		}
		if a.serves(host) {
			rank += 2
		}
		if rank > most {
			best, most = host, rank
		}
	}
	return best
}

// serves reports whether a virtual host has the host name of the base.
func (a *apache) serves(host *directive) bool {
	return slices.ContainsFunc(host.children, func(d *directive) bool {
		return (d.name == "servername" || d.name == "serveralias") &&
			slices.ContainsFunc(strings.Fields(strings.ToLower(d.rest)), func(name string) bool {
				name = strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://")
				name, _, _ = strings.Cut(name, ":")
				wildcard := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(name))
				matched, err := regexp.MatchString("^"+wildcard+"$", a.host)
				return name == a.host || d.name == "serveralias" && err == nil && matched
			})
	})
}
