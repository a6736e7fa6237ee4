package config

import (
	"net"
	"strconv"
	"strings"
)

func checkUpstreams(f *Faults, upstreams []Upstream) {
	for i, u := range upstreams {
		path := index("proxy.upstreams", i)
		checkRuleHosts(f, path+".hosts", u.Hosts)
		switch {
		case u.User != "" && u.Password == "":
			f.Add(path+".user", "%q cannot log in: password is missing, a file", u.User)
		case u.User == "" && u.Password != "":
			f.Add(path+".password", "is not used: user is missing")
		case u.User != "" && u.Server == "direct":
			f.Add(path+".user", "is not used: server is direct, where nobody asks for it")
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
		f.Add(path, "is missing: write direct, or http://, https:// or socks5:// with a host and a port")
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
