package config

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/urnd/urnd/uri"
)

// The schemes of stores.
const (
	storeSQLite   = "sqlite:"
	storePostgres = "postgres:"
)

// isPostgres reports whether a store is the URL of a PostgreSQL database.
func isPostgres(store string) bool {
	return strings.HasPrefix(store, storePostgres) || strings.HasPrefix(store, "postgresql:")
}

// checkStore checks registry.store.
func checkStore(f *Diagnostics, path string, value any) {
	text, _ := value.(string)
	switch {
	case text == "":
	case strings.HasPrefix(text, storeSQLite) && len(text) > len(storeSQLite):
	case isPostgres(text):
		checkReplica(f, path, value)
	case strings.HasPrefix(text, "/"), strings.HasSuffix(text, ".db") && !strings.ContainsAny(text, ":@"):
		f.Add(path, "%q is neither sqlite: and a path nor a URL: write sqlite:%[1]s", text)
	default:
		f.Add(path,
			"is neither sqlite: and the path of a file nor a URL that begins with postgres:; its value is not shown, "+
				"since it may contain a password")
	}
}

// checkReplica checks the URL of a PostgreSQL database, without showing a password.
func checkReplica(f *Diagnostics, path string, value any) {
	text, _ := value.(string)
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		f.Add(path, "is not a URL that begins with postgres:; its value is not shown, since it may contain a password")
		return
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") || u.Query().Has("sslpassword") {
		f.Add(path,
			"contains a password, which others can read in the configuration: put it into a file, and set "+
				"registry.password to "+
				"its path")
	}
}

// checkHealthInterval checks registry.health_interval.
func checkHealthInterval(f *Diagnostics, path string, value any) {
	if d, _ := value.(time.Duration); d > 0 && d < time.Hour {
		f.Add(path, "%s must be 0 or at least 1h", show(d))
	}
}

// checkHealthContact checks that registry.health_contact can be in a comment of User-Agent (RFC 9110 section
// 5.6.5).
func checkHealthContact(f *Diagnostics, path string, value any) {
	text, _ := value.(string)
	for _, c := range text {
		if c <= ' ' || c > '~' || strings.ContainsRune(`()\`, c) {
			f.Add(path, "%q is neither a URL nor a mail address: %q is not allowed", text, c)
			return
		}
	}
	if text != "" && !strings.ContainsAny(text, ":@") {
		f.Add(path, "%q is neither a URL nor a mail address", text)
	}
}

// WebHosts returns Hosts and the hosts of DigitalLink in canonical form: lower case, without a trailing dot.
func (r Registry) WebHosts() []string {
	hosts := make([]string, 0, len(r.Hosts)+len(r.DigitalLink))
	for _, host := range r.Hosts {
		hosts = append(hosts, uri.CanonicalHost(host))
	}
	for _, d := range r.DigitalLink {
		if host := d.host(); host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// HostPrefixes returns the prefixes of the names of Hosts and of DigitalLink.
func (r Registry) HostPrefixes() []string {
	beginnings := r.WebHosts()
	for i, host := range beginnings {
		beginnings[i] = "https://" + host + "/"
	}
	return beginnings
}

// NamePrefixes returns the prefixes of the names that the registry is queried for, including those of hosts;
// empty means all URNs.
func (r Registry) NamePrefixes() []string {
	if len(r.Hosts)+len(r.DigitalLink) == 0 {
		return r.Owned
	}
	all := slices.Clone(r.Owned)
	if len(all) == 0 {
		all = []string{"urn:"}
	}
	for _, beginning := range r.HostPrefixes() {
		if !slices.Contains(all, beginning) {
			all = append(all, beginning)
		}
	}
	return all
}

// checkRegistryHosts checks registry.hosts.
func checkRegistryHosts(f *Diagnostics, path string, value any) {
	hosts, _ := value.([]string)
	seen := make(map[string]bool)
	for i, host := range hosts {
		switch name := uri.CanonicalHost(host); {
		case !isDomain(host) || net.ParseIP(host) != nil:
			f.Add(index(path, i), "%q is not a host such as purl.example.org, without port%s", host,
				writeHost(host, "patterns are not supported: list each host"))
		case seen[name]:
			f.Add(index(path, i), "%q is listed twice", host)
		default:
			seen[name] = true
		}
	}
}

// checkOwnHosts rejects a host whose paths would be both names of the registry and resources of a site.
func checkOwnHosts(f *Diagnostics, c Config) {
	refuse := func(path, host string) {
		for j, site := range c.Proxy.Sites {
			if slices.ContainsFunc(site.Hosts, func(name string) bool { return uri.SameHost(host, name) }) {
				f.Add(path,
					"%q is also the host of a site (%s): its paths are either names or resources of its servers", host,
					index("proxy.sites", j)+".hosts")
			}
		}
	}
	for i, host := range c.Registry.Hosts {
		refuse(index("registry.hosts", i), host)
	}
	for i, d := range c.Registry.DigitalLink {
		refuse(index("registry.digital_link", i)+".root", d.host())
	}
}

// warnOfOwnHosts warns of names of this server whose paths are names of the registry.
func warnOfOwnHosts(f *Diagnostics, c Config) {
	hosts := c.Registry.WebHosts()
	for i, name := range c.Listen.Names {
		if slices.Contains(hosts, uri.CanonicalHost(name)) {
			f.Add(index("listen.names", i),
				"%q is also in registry.hosts or registry.digital_link, whose paths are all names of the "+
					"registry: use another host name for urnd's own pages, such as /fetch", name)
		}
	}
}

// maxSupport is the maximum length in bytes of an element of the commitment: each description of an ARK repeats
// it.
const maxSupport = 500

// checkSupport checks an element of the commitment, which must be a single line.
func checkSupport(f *Diagnostics, path string, value any) {
	text, _ := value.(string)
	switch {
	case len(text) > maxSupport:
		f.Add(path, "has more than %d bytes", maxSupport)
	case strings.ContainsFunc(text, unicode.IsControl):
		f.Add(path, "%q contains a line end or another control character", text)
	}
}

// NamePrefix returns the prefix of the names of a handle prefix; the default is "doi:" or "hdl:" and the handle
// prefix.
func (h Handle) NamePrefix() string {
	switch {
	case h.Names != "":
		return h.Names
	case strings.HasPrefix(h.Prefix, "10."):
		return "doi:" + h.Prefix + "/"
	default:
		return "hdl:" + h.Prefix + "/"
	}
}

// maxHandlePrefix is the maximum length of a handle prefix in bytes.
const maxHandlePrefix = 255

// checkHandles checks registry.handles. Handle prefixes are case-insensitive.
func checkHandles(f *Diagnostics, handles []Handle) {
	seen := make(map[string]bool)
	for i, h := range handles {
		path := index("registry.handles", i)
		prefix := strings.ToLower(h.Prefix)
		switch {
		case h.Prefix == "":
			f.Add(path+".prefix", "is missing")
		case !isHandlePrefix(h.Prefix):
			f.Add(path+".prefix", "%q is not a prefix of handles such as 20.500.12345, without a slash", h.Prefix)
		case seen[prefix]:
			f.Add(path+".prefix", "%q is configured twice", h.Prefix)
		}
		seen[prefix] = true
		if h.Names != "" && !isNamePrefix(h.Names) {
			f.Add(path+".names", "%q is not a prefix of names such as urn:example: or hdl:20.500.12345/", h.Names)
		}
	}
}

// isHandlePrefix reports whether a text is a handle prefix. urnd accepts those that are registered in practice:
// labels of letters, digits, hyphens and underscores (RFC 3651 section 2).
func isHandlePrefix(text string) bool {
	const others = "0123456789-_"
	if len(text) > maxHandlePrefix {
		return false
	}
	for label := range strings.SplitSeq(strings.ToLower(text), ".") {
		if label == "" || strings.Trim(label, others+"abcdefghijklmnopqrstuvwxyz") != "" {
			return false
		}
	}
	return true
}

// isNamePrefix reports whether a text can be a prefix of names.
func isNamePrefix(text string) bool {
	const rest = "0"
	u, err := uri.Parse(text + rest)
	return err == nil && u.Scheme() != "" && !strings.ContainsAny(text, "?#")
}

// warnOfHandles warns of handle prefixes for which the registry is never queried.
func warnOfHandles(f *Diagnostics, c Config) {
	for i, h := range c.Registry.Handles {
		path, beginning := index("registry.handles", i), canonicalNamePrefix(h.NamePrefix())
		isOwned := func(of string) bool {
			of = canonicalNamePrefix(of)
			return strings.HasPrefix(beginning, of) || strings.HasPrefix(of, beginning)
		}
		switch {
		case c.Registry.Store == "":
			f.Add(path, "no handle can be found: registry.store is empty")
		case len(c.Registry.Owned) > 0 && !slices.ContainsFunc(c.Registry.NamePrefixes(), isOwned):
			f.Add(path,
				"no handle can be found: names with the prefix %s are not looked up in the registry: add it to "+
					"registry.owned", h.NamePrefix())
		}
	}
}

// The schemes of identifiers in web addresses.
const (
	SchemeGS1             = "gs1"
	schemeDataIdentifiers = "data-identifiers"
)

// host returns the canonical host of the root; "" for none.
func (d DigitalLink) host() string {
	u, err := uri.Parse(d.Root)
	if err != nil {
		return ""
	}
	host, _ := u.Host()
	return uri.CanonicalHost(host)
}

// checkDigitalLink checks registry.digital_link.
func checkDigitalLink(f *Diagnostics, r Registry) {
	for i, d := range r.DigitalLink {
		path := index("registry.digital_link", i)
		checkRoot(f, path+".root", d.Root)
		isTwice := func(other DigitalLink) bool { return other.Root == d.Root }
		if d.Root != "" && slices.IndexFunc(r.DigitalLink, isTwice) < i {
			f.Add(path+".root", "%q is listed twice", d.Root)
		}
		if d.Terms != "" && !isWebURL(d.Terms) {
			f.Add(path+".terms", "%q is not a URL such as https://www.example.org/terms", d.Terms)
		}
	}
}

// checkRoot checks the URL prefix of identifiers.
func checkRoot(f *Diagnostics, path, root string) {
	u, err := uri.Parse(root)
	if err == nil {
		err = u.Check()
	}
	host, _ := u.Host()
	_, hasPort := u.Port()
	_, hasUser := u.Userinfo()
	_, hasQuery := u.Query()
	_, hasFragment := u.Fragment()
	switch {
	case root == "":
		f.Add(path, "is missing")
	case err != nil || u.Scheme() != "https" || !isDomain(host) || net.ParseIP(host) != nil || hasPort || hasUser ||
		hasQuery || hasFragment:
		f.Add(path, "%q is not a URL such as https://id.example.org/, with https and without port", root)
	case !strings.HasSuffix(root, "/"):
		f.Add(path, "%q does not end with a slash: write %[1]s/", root)
	case u.Normalize() != u:
		f.Add(path, "%q is not in normal form: write %s", root, u.Normalize())
	}
}
