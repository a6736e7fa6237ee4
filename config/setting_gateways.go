package config

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gatewaySettings are those of schemes other than http and https.
func gatewaySettings() []Setting {
	return slices.Concat([]Setting{
		{
			Path: "gateways",
			Doc: "Gateways to servers of other protocols than HTTP: what a proxy's client asks for by ftp, gopher, news, nntp, wais, " +
				"z39.50r, z39.50s and file, and what is fetched by /fetch?uri= or as the resource of a name. See docs/gateways.md. " +
				"All clients in access.proxy_clients may use them; proxy.rules hold for them, too.",
		},
		{
			Path: "gateways.allow_ports", Default: []PortRange{},
			Doc:  "Ports that a URL may name although they are below 1024, or denied: the default port of its scheme may always be named.",
			Form: "port, or two joined by a hyphen",
		},
		{
			Path: "gateways.deny_ports", Default: deniedPortRanges(),
			Doc: "Ports above 1023 that a URL of a gateway may not name, and no data connection of FTP may be to, since servers of other " +
				"protocols listen there, which could take a request for a command (RFC 1738 section 6). The list is a table with a " +
				"reason for each, config/denied_ports.go of the source: the bad ports of browsers, and those of line protocols, databases, " +
				"caches, queues and mail, as far as they are known. It does not hold for http and https.",
			Form: "port, or two joined by a hyphen",
		},
		{Path: "gateways.timeout", Default: 30 * time.Second, Doc: "for one reply of a server, and for a listing as a whole", Least: time.Millisecond, Most: 10 * time.Minute},
		{Path: "gateways.max_entries", Default: 10_000, Doc: "how many entries of a listing are shown", Least: 1, Most: 1_000_000},
		{Path: "gateways.max_listing", Default: Size(4 << 20), Doc: "of a listing as its server sends it, of the page that is made of it, and of an article; longer ones are cut off, which their page says", Least: Size(1 << 10), Most: Size(1 << 30)},
		{Path: "gateways.ttl", Default: time.Minute, Doc: "how long listings are fresh: their servers do not say it", Least: time.Duration(0), Most: day},
		{
			Path: "gateways.templates", Default: []Gateway{},
			Doc: "Other gateways, to which clients are redirected for URLs of a scheme: also instead of the ones of urnd. The variables are " +
				"uri, the URI as a whole, and its parts scheme, host, port, path and query. A list:",
			Form:   tableForm,
			Sample: "templates:\n  - scheme: prospero\n    template: https://gateway.example.org/?url={uri}",
		},
	}, ftpSettings(), newsSettings(), []Setting{
		{Path: "wais", Doc: "The gateway to databases by Z39.50, which WAIS is a form of: URLs of the schemes wais, z39.50r and z39.50s."},
		{Path: "wais.enabled", Default: true, Doc: "URLs of these schemes are retrieved"},
		{Path: "wais.records", Default: 50, Doc: "how many records of a result are shown", Least: 1, Most: 1000},
		{Path: "file", Doc: "Local files, by file URLs."},
		{
			Path: "file.roots", Default: []string{},
			Doc:    "The directories below which files are served to all clients of the proxy; no link leads out of them. Empty: file URLs are refused.",
			Sample: "roots: [/srv/documents]", Form: "absolute path", check: checkRoots,
		},
	})
}

// gatewayElements are the settings in their lists of tables.
func gatewayElements() []Setting {
	return []Setting{
		{Path: "gateways.templates.*.scheme", Doc: "the scheme; it must be set", Form: "scheme"},
		{Path: "gateways.templates.*.template", Doc: "where clients are redirected to; it must be set", Form: "URI template (RFC 6570)"},
	}
}

func ftpSettings() []Setting {
	return []Setting{
		{Path: "ftp", Doc: "The gateway to FTP servers."},
		{Path: "ftp.enabled", Default: true, Doc: "ftp URLs are retrieved"},
		{Path: "ftp.anonymous", Default: "urnd@", Doc: "the password of the user anonymous, as servers expect it: a mail address, or a part of one", Form: "text", check: checkFTPPassword},
		{Path: "ftp.login", Default: true, Doc: "users and passwords in URLs, and those that clients are asked for, are sent to servers; false refuses them"},
		{
			Path: "ftp.tls", Default: "offered",
			Doc: "TLS (RFC 4217): never; offered uses it where a server offers it, with any certificate; required refuses " +
				"servers that do not offer it, or whose certificate is not valid",
			OneOf: []string{"never", "offered", "required"},
		},
		{Path: "ftp.max_idle", Default: 16, Doc: "how many connections wait for the next request, half of them to one server, and no more than an eighth of limits.outgoing; 0 closes each after its request", Least: 0, Most: 1000},
		{Path: "ftp.idle", Default: 30 * time.Second, Doc: "how long they wait", Least: time.Second, Most: time.Hour},
	}
}

func newsSettings() []Setting {
	return []Setting{
		{Path: "gopher", Doc: "The gateway to gopher servers."},
		{Path: "gopher.enabled", Default: true, Doc: "gopher URLs are retrieved"},
		{Path: "news", Doc: "The gateway to news servers: URLs of the schemes news and nntp."},
		{Path: "news.enabled", Default: true, Doc: "URLs of these schemes are retrieved"},
		{
			Path: "news.servers", Default: []string{},
			Doc:    "The servers for news URLs, which name none; the next one is asked where one is not available, or does not have it. Empty: these URLs are refused.",
			Sample: "servers: [news.example.org:119, 'tls://news.example.net:563']", Form: "host:port, or tls:// and one", check: checkNewsServers,
		},
		{Path: "news.login", Doc: "the file with the user that urnd logs in as, at these servers only, a colon and the password; empty: it does not log in", Form: "path, or credential: and a name", check: checkSecretFile},
		{Path: "news.page", Default: 100, Doc: "how many articles a page of a group has", Least: 1, Most: 1000},
		{Path: "news.max_idle", Default: 16, Doc: "how many connections wait for the next request, half of them to one server, and no more than an eighth of limits.outgoing; 0 closes each after its request", Least: 0, Most: 1000},
		{Path: "news.idle", Default: 30 * time.Second, Doc: "how long they wait", Least: time.Second, Most: time.Hour},
	}
}

func checkFTPPassword(f *Faults, path string, value any) {
	if text, _ := value.(string); text == "" || strings.ContainsAny(text, "\r\n\x00") {
		f.add(path, "is empty, or has a line end")
	}
}

// checkRoots refuses also the directories that have devices and the secrets of processes, or contain these.
func checkRoots(f *Faults, path string, value any) {
	roots, _ := value.([]string)
	for i, root := range roots {
		switch {
		case !filepath.IsAbs(root):
			f.add(index(path, i), "%q is not an absolute path such as /srv/documents", root)
		case filepath.Clean(root) != root:
			f.add(index(path, i), "%q is not an absolute path in its shortest form: write %s", root, filepath.Clean(root))
		case root == "/":
			f.add(index(path, i), "%q is all of this machine: name the directories to serve", root)
		case slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(system string) bool { return isBelow(root, system) }):
			f.add(index(path, i), "%q has no documents, but devices and the state of processes", root)
		}
	}
}

// warnOfRoots warns of files of urnd itself below a root, which all clients can read then.
func warnOfRoots(f *Faults, roots []string, values map[string]any) {
	own := []string{"/etc/urnd", "/var/lib/urnd"} // of the packages
	for _, s := range Settings() {
		if name, ok := values[s.Path].(string); ok && strings.HasPrefix(s.Form, "path") || strings.HasPrefix(name, "sqlite:") {
			if name = strings.TrimPrefix(name, "sqlite:"); filepath.IsAbs(name) {
				own = append(own, filepath.Clean(name))
			}
		}
	}
	slices.Sort(own)
	for i, root := range roots {
		for _, name := range slices.Compact(own) {
			if isBelow(name, root) || isBelow(root, name) {
				f.add(index("file.roots", i), "all clients of the proxy can read what urnd has in %s", name)
			}
		}
	}
}

// isBelow reports whether a clean path is a directory, or in it.
func isBelow(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, strings.TrimSuffix(directory, "/")+"/")
}

func checkNewsServers(f *Faults, path string, value any) {
	servers, _ := value.([]string)
	checkAddresses(f, path, servers, "tls://", "news.example.org:119", "news.example.org:563")
}

// checkGateways checks the templates of other gateways.
func checkGateways(f *Faults, gateways []Gateway) {
	seen := make(map[string]bool)
	for i, g := range gateways {
		path := index("gateways.templates", i)
		name := strings.ToLower(g.Scheme)
		switch {
		case !isScheme(g.Scheme):
			f.add(path+".scheme", "%q is not a scheme such as wais", g.Scheme)
		case name == "http", name == "https", name == "urn":
			f.add(path+".scheme", "%q has no gateway", g.Scheme)
		case seen[name]:
			f.add(path+".scheme", "%q is named twice", g.Scheme)
		}
		seen[name] = true
		if to, _, _ := strings.Cut(g.Template, ":"); strings.EqualFold(to, g.Scheme) {
			f.add(path+".template", "%q leads back to the scheme %s", g.Template, name)
		}
		checkTemplate(f, path+".template", g.Template, []string{"uri", "scheme", "host", "port", "path", "query"})
	}
}
