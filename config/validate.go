package config

import (
	"cmp"
	"fmt"
	"mime"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/std-uritemplate/std-uritemplate/go/v2"
	"golang.org/x/text/language"

	"github.com/urnd/urnd/uri"
)

// Validate returns everything that is wrong with c, or nil. The type of the
// error is Faults.
func (c Config) Validate() error {
	var f Faults
	checkListen(&f, "listen.service", c.Listen.Service)
	if c.Listen.Admin != "" {
		checkListen(&f, "listen.admin", c.Listen.Admin)
	}
	within(&f, "dns.timeout", c.DNS.Timeout, time.Millisecond, time.Minute)
	within(&f, "dns.rounds", c.DNS.Rounds, 1, 10)
	within(&f, "dns.hedge_after", c.DNS.HedgeAfter, 0, time.Minute)
	within(&f, "dns.min_ttl", c.DNS.MinTTL, 0, time.Hour)
	within(&f, "dns.max_ttl", c.DNS.MaxTTL, max(time.Second, c.DNS.MinTTL), 365*24*time.Hour)
	checkRootOptions(&f, "ddds.root_options", c.DDDS)
	within(&f, "ddds.max_domains", c.DDDS.MaxDomains, 1, 20)
	checkDomains(&f, "ddds.roots", c.DDDS.Roots)
	checkDomains(&f, "ddds.uri_roots", c.DDDS.URIRoots)
	within(&f, "resolve.timeout", c.Resolve.Timeout, time.Millisecond, 5*time.Minute)
	checkOrder(&f, "resolve.order", c.Resolve.Order)
	within(&f, "resolve.rule_ttl", c.Resolve.RuleTTL, 0, 365*24*time.Hour)
	if c.Resolve.Elsewhere != "" {
		checkTemplate(&f, "resolve.elsewhere", c.Resolve.Elsewhere)
	}
	if !slices.Contains([]int{404, 501, 502}, c.Resolve.UnknownStatus) {
		f.add("resolve.unknown_status", "%d is not 404, 501 or 502", c.Resolve.UnknownStatus)
	}
	within(&f, "thttp.timeout", c.THTTP.Timeout, time.Millisecond, 10*time.Minute)
	within(&f, "thttp.max_body", c.THTTP.MaxBody, 1<<10, 1<<30)
	within(&f, "thttp.max_locations", c.THTTP.MaxLocations, 1, 10_000)
	within(&f, "thttp.default_ttl", c.THTTP.DefaultTTL, 0, 365*24*time.Hour)
	within(&f, "thttp.max_ttl", c.THTTP.MaxTTL, time.Second, 365*24*time.Hour)
	within(&f, "slp.timeout", c.SLP.Timeout, time.Millisecond, time.Minute)
	within(&f, "slp.none_ttl", c.SLP.NoneTTL, time.Second, 24*time.Hour)
	if len(c.SLP.Scopes) == 0 || slices.Contains(c.SLP.Scopes, "") {
		f.add("slp.scopes", "names no scope, and agents answer nobody without one (RFC 2608 section 8.1)")
	}
	if !languageTag.MatchString(c.SLP.Language) {
		f.add("slp.language", "%q is not a language tag such as en", c.SLP.Language)
	}
	checkAccept(&f, "urn.accept", c.URN.Accept)
	within(&f, "cache.answers", c.Cache.Answers, 1<<20, 1<<40)
	within(&f, "cache.records", c.Cache.Records, 1<<20, 1<<40)
	within(&f, "cache.stale_for", c.Cache.StaleFor, 0, 7*24*time.Hour)
	within(&f, "cache.retry_after", c.Cache.RetryAfter, time.Second, time.Hour)
	within(&f, "limits.target", c.Limits.Target, 256, 1<<20)
	within(&f, "limits.header", c.Limits.Header, 4<<10, 16<<20)
	within(&f, "limits.header_timeout", c.Limits.HeaderTimeout, time.Millisecond, time.Hour)
	within(&f, "limits.idle_timeout", c.Limits.IdleTimeout, time.Millisecond, 24*time.Hour)
	within(&f, "limits.connect_timeout", c.Limits.ConnectTimeout, time.Millisecond, 10*time.Minute)
	within(&f, "limits.origin_timeout", c.Limits.OriginTimeout, time.Millisecond, 24*time.Hour)
	within(&f, "limits.origin_idle", c.Limits.OriginIdle, time.Second, 24*time.Hour)
	within(&f, "limits.shutdown_timeout", c.Limits.ShutdownTimeout, 0, time.Hour)
	if c.Log.Format != "text" && c.Log.Format != "json" {
		f.add("log.format", "%q is not text or json", c.Log.Format)
	}
	if c.Limits.Target > c.Limits.Header {
		f.add("limits.target", "%s is more than limits.header, of which it is a part", show(c.Limits.Target))
	}
	if c.Listen.Service == c.Listen.Admin && !strings.HasSuffix(c.Listen.Admin, ":0") {
		f.add("listen.admin", "%q is the address of the service too", c.Listen.Admin)
	}
	checkPrefixes(&f, "access.allow_destinations", c.Access.AllowDestinations)
	checkPrefixes(&f, "access.proxy_clients", c.Access.ProxyClients)
	checkNamespaces(&f, c.Namespaces)
	if len(f) == 0 {
		return nil
	}
	return f
}

func index(path string, i int) string { return path + "." + strconv.Itoa(i) }

// within checks a bound on both sides.
func within[T cmp.Ordered](f *Faults, path string, value, least, most T) {
	if value < least || value > most {
		f.add(path, "%s is not between %s and %s", show(value), show(least), show(most))
	}
}

func show(v any) string {
	if size, ok := v.(Size); ok {
		text, _ := size.MarshalText()
		return string(text)
	}
	return fmt.Sprint(v)
}

func checkListen(f *Faults, path, address string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		f.add(path, "%q is not host:port, such as 127.0.0.1:8141", address)
		return
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		f.add(path, "%q has no port between 0 and 65535", address)
	} else if _, err := netip.ParseAddr(host); host != "" && host != "localhost" && err != nil {
		f.add(path, "%q begins with no IP address (port %d)", address, n)
	}
}

// isDomain checks the text form of a DNS name: RFC 1035 section 2.3.4 bounds
// it, and hosts' names have letters, digits and hyphens.
func isDomain(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > 253 {
		return false
	}
	const octets = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label || strings.Trim(label, octets) != "" {
			return false
		}
	}
	return true
}

// checkPrefixes refuses IPv4 addresses in IPv6 form, which match nothing:
// addresses are compared in their own form.
func checkPrefixes(f *Faults, path string, prefixes []netip.Prefix) {
	for i, prefix := range prefixes {
		if prefix.Addr().Is4In6() {
			f.add(index(path, i), "%s is an IPv4 network in IPv6 form: write it as IPv4", prefix)
		}
	}
}

func checkOrder(f *Faults, path string, order []string) {
	for i, name := range order {
		if !slices.Contains([]string{"ddds", "slp", "thttp", "namespace"}, name) {
			f.add(index(path, i), "%q is not ddds, slp, thttp or namespace", name)
		}
		if slices.Index(order, name) != i {
			f.add(index(path, i), "%q is named twice", name)
		}
	}
}

func checkDomains(f *Faults, path string, names []string) {
	for i, name := range names {
		if !isDomain(name) {
			f.add(index(path, i), "%q is not a domain name such as urn.arpa.", name)
		} else if slices.IndexFunc(names, func(other string) bool { return sameDomain(name, other) }) != i {
			f.add(index(path, i), "%q is named twice", name)
		}
	}
}

func checkRootOptions(f *Faults, path string, c DDDS) {
	seen := make(map[string]bool)
	for i, o := range c.RootOptions {
		at := index(path, i) + ".root"
		switch {
		case !slices.ContainsFunc(slices.Concat(c.Roots, c.URIRoots), func(root string) bool { return sameDomain(root, o.Root) }):
			f.add(at, "%q is not one of ddds.roots or ddds.uri_roots", o.Root)
		case seen[canonicalDomain(o.Root)]:
			f.add(at, "%q is configured twice", o.Root)
		}
		seen[canonicalDomain(o.Root)] = true
	}
}

func canonicalDomain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

func sameDomain(a, b string) bool { return canonicalDomain(a) == canonicalDomain(b) }

func checkAccept(f *Faults, path string, accept []string) {
	if len(accept) == 0 {
		f.add(path, "names no specification, so that every URN would be refused")
	}
	for i, name := range accept {
		if _, ok := uri.ParseConformance(name); !ok {
			f.add(index(path, i), "%q is not rfc2141, draft or rfc8141", name)
		}
	}
}

func checkNamespaces(f *Faults, namespaces []Namespace) {
	seen := make(map[string]bool)
	for i, ns := range namespaces {
		path := index("namespaces", i)
		nid := strings.ToLower(ns.NID)
		if err := uri.CheckNID(ns.NID); err != nil {
			f.add(path+".nid", "%q: %v", ns.NID, err)
		} else if seen[nid] {
			f.add(path+".nid", "%q is configured twice", ns.NID)
		}
		seen[nid] = true
		if !slices.Contains([]string{"", "none", "lower", "upper", "prefix", "first"}, ns.Fold) {
			f.add(path+".fold", "%q is not none, lower, upper, prefix or first", ns.Fold)
		}
		if !slices.Contains([]string{"", "strict", "warn"}, ns.Check) {
			f.add(path+".check", "%q is not strict or warn", ns.Check)
		}
		checkPattern(f, path+".pattern", ns.Pattern)
		checkOrder(f, path+".order", ns.Order)
		if len(ns.THTTP) > 0 && len(ns.Order) > 0 && !slices.Contains(ns.Order, "thttp") {
			f.add(path+".order", "does not name thttp, so that the servers of %s.thttp would never be asked", path)
		}
		for j, server := range ns.THTTP {
			checkServer(f, index(path+".thttp", j), server)
		}
		for j, target := range ns.Targets {
			at := index(path+".targets", j)
			checkPattern(f, at+".pattern", target.Pattern)
			checkTarget(f, at, target)
		}
	}
}

// checkServer checks the base of a THTTP server.
func checkServer(f *Faults, path, server string) {
	u, err := uri.Parse(server)
	if err == nil {
		err = u.Check()
	}
	host, _ := u.Host()
	switch scheme := strings.ToLower(u.Scheme()); {
	case err != nil:
		f.add(path, "%v", err)
	case scheme != "http" && scheme != "https" || server != u.Scheme()+"://"+authority(u) || host == "":
		f.add(path, "%q is not http:// or https:// and a host, without a path", server)
	}
}

func authority(u uri.URI) string { a, _ := u.Authority(); return a }

func checkPattern(f *Faults, path, pattern string) {
	if _, err := regexp.Compile(pattern); err != nil {
		f.add(path, "%v", err)
	}
}

// languageTag is RFC 2608 section 8.
var languageTag = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z]{1,8})*$`)

// literalScheme is a scheme that no variable can change.
var literalScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// checkTarget checks where names lead, if anywhere, and what is said of it.
func checkTarget(f *Faults, path string, target Target) {
	switch {
	case !target.Gone:
		checkTemplate(f, path+".template", target.Template)
	case target.Template != "":
		f.add(path+".template", "stands beside gone: names that are gone lead nowhere")
	}
	if _, _, err := mime.ParseMediaType(target.Type); target.Type != "" && (err != nil || !strings.Contains(target.Type, "/")) {
		f.add(path+".type", "%q is not a media type such as application/pdf", target.Type)
	}
	if _, err := language.Parse(target.Language); target.Language != "" && err != nil {
		f.add(path+".language", "%q is not a language tag such as en or pt-BR", target.Language)
	}
}

func checkTemplate(f *Faults, path, template string) {
	_, err := stduritemplate.Expand(template, nil)
	switch {
	case template == "":
		f.add(path, "is missing")
	case err != nil:
		f.add(path, "%q: %v", template, err)
	case !literalScheme.MatchString(template):
		f.add(path, "%q does not begin with a scheme such as https:", template)
	}
}
