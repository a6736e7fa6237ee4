package config

import (
	"errors"
	"mime"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urnd/urnd/uri"
	"golang.org/x/text/language"
)

func checkNotEmpty(f *Diagnostics, path string, value any) {
	if list, _ := value.([]string); len(list) == 0 {
		f.Add(path, "is empty, so no URN would be resolved")
	}
}

func checkFallback(f *Diagnostics, path string, value any) {
	if template, _ := value.(string); template != "" {
		checkTemplate(f, path, template, []string{"urn", "nid", "nss"})
	}
}

func checkIdentifiers(f *Diagnostics, identifiers []Identifier) {
	for i, identifier := range identifiers {
		at := index("resolve.identifiers", i)
		if identifier.Pattern == "" {
			f.Add(at+".pattern", "is missing")
		}
		checkPattern(f, at+".pattern", identifier.Pattern)
		checkTemplate(f, at+".template", identifier.Template, groupsOf(identifier.Pattern), "doi", "hdl", "ark")
	}
}

func checkDomainList(f *Diagnostics, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		if !isDomain(name) {
			f.Add(index(path, i), "%q is not a domain name such as urn.arpa.%s", name,
				writeHost(name, "patterns are not supported: "+
					"list each name"))
		} else if slices.IndexFunc(names, func(other string) bool { return uri.SameHost(name, other) }) != i {
			f.Add(index(path, i), "%q is listed twice", name)
		}
	}
}

// isDomain reports whether a text is a DNS host name: RFC 1035 section 2.3.4 limits its length, and labels
// consist of letters, digits and hyphens. Underscores are accepted, too.
func isDomain(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.ContainsFunc(label, isNoDomain) {
			return false
		}
	}
	return true
}

// isNoDomain reports whether a character is not allowed in a label.
func isNoDomain(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
}

func checkRootOptions(f *Diagnostics, path string, c DDDS) {
	seen := make(map[string]bool)
	for i, o := range c.RootOptions {
		at := index(path, i) + ".root"
		switch {
		case !slices.ContainsFunc(slices.Concat(c.Roots, c.URIRoots),
			func(root string) bool { return uri.SameHost(root, o.Root) }):
			f.Add(at, "%q is not one of ddds.roots or ddds.uri_roots", o.Root)
		case seen[uri.CanonicalHost(o.Root)]:
			f.Add(at, "%q is configured twice", o.Root)
		}
		seen[uri.CanonicalHost(o.Root)] = true
	}
}

// Enabled reports whether directory agents are configured.
func (c SLP) Enabled() bool { return len(c.Agents) > 0 }

// Group returns the multicast group for the discovery of directory agents; ok is false if the agents have
// unicast addresses.
func (c SLP) Group() (group netip.AddrPort, ok bool) {
	if len(c.Agents) != 1 || !c.Agents[0].Addr().IsMulticast() {
		return netip.AddrPort{}, false
	}
	return c.Agents[0].AddrPort, true
}

func checkScopes(f *Diagnostics, path string, value any) {
	if scopes, _ := value.([]string); len(scopes) == 0 || slices.Contains(scopes, "") {
		f.Add(path, "is empty: agents respond only to requests for one of their scopes (RFC 2608 section 8.1)")
	}
}

// checkAgents rejects a multicast group next to other agents, which must be unicast.
func checkAgents(f *Diagnostics, path string, value any) {
	agents, _ := value.([]Agent)
	for i, agent := range agents {
		if agent.Addr().IsMulticast() && len(agents) > 1 {
			f.Add(index(path, i),
				"%s is a multicast group, which cannot be combined with other agents: write either the group or the "+
					"addresses", agent.Addr())
		}
	}
}

func checkAccept(f *Diagnostics, path string, value any) {
	if accept, _ := value.([]string); len(accept) == 0 {
		f.Add(path, "is empty, so every URN would be refused")
	}
}

// Specs returns the specifications in Accept.
func (u URN) Specs() uri.Conformance {
	var specs uri.Conformance
	for _, name := range u.Accept {
		spec, _ := uri.ParseConformance(name) // checked by Validate
		specs |= spec
	}
	return specs
}

// ofNames returns the variables of templates for names; "c" is the value of the directive c.
func ofNames() []string { return []string{"urn", "nid", "nss", "c"} }

// checkTemplate checks a URI template whose variables must be in known. names are further schemes that it may
// expand to.
func checkTemplate(f *Diagnostics, path, template string, known []string, names ...string) {
	values := make([]uri.TemplateValue, len(known))
	for i, name := range known {
		values[i] = uri.TemplateValue{Name: name, Text: "1"}
	}
	parsed, err := uri.ParseTemplate(template)
	unknown := slices.DeleteFunc(parsed.Variables(), func(name string) bool { return slices.Contains(known, name) })
	switch {
	case template == "":
		f.Add(path, "is missing")
	case otherVariable.MatchString(template):
		f.Add(path,
			"%q: %s is not a variable of templates: write {name}, where (?P<name>...) is a group of the pattern, or %s",
			template, otherVariable.FindString(template), braced(known))
	case err != nil:
		f.Add(path, "%q: %v", template, err)
	case userinfo.MatchString(template):
		f.Add(path, "contains a user or a password, which would be visible to all clients")
	case !literalScheme.MatchString(template):
		f.Add(path, "%q does not begin with a scheme such as https:", template)
	case len(unknown) > 0:
		there := strings.Join(known, ", ")
		if there == "" {
			there = "none: named groups of a pattern, as in (?P<name>...), are variables"
		}
		f.Add(path, "%q: the variable %q is unknown%s; known variables: %s", template, unknown[0],
			didYouMean(unknown[0], known), there)
	default:
		location := expression.ReplaceAllString(template, "1")
		if strings.ContainsFunc(location, func(c rune) bool { return c > unicode.MaxASCII }) {
			location = parsed.Expand(values) // with percent-encoding; an ASCII space is probably a mistake
		}
		checkLocation(f, path, template, location, names)
	}
}

// checkLocation checks the expansion of a template in which each variable is "1".
func checkLocation(f *Diagnostics, path, template, location string, names []string) {
	u, err := uri.Parse(location)
	var parse *uri.ParseError
	scheme := strings.ToLower(u.Scheme())
	switch {
	case errors.As(err, &parse):
		f.Add(path, "%q does not expand to a URI: in %q, %s (byte %d)", template, location, parse.Rule.Requirement,
			parse.Offset)
	case !u.IsWeb() && scheme != "urn" && !slices.Contains(schemes(), scheme) && !slices.Contains(names, scheme):
		f.Add(path, "%q: redirects to the scheme %q are not allowed", template, scheme)
	}
}

// braced lists variables as in templates.
func braced(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = "{" + name + "}"
	}
	return strings.Join(all, ", ")
}

// otherVariable matches the variable syntax of other programs.
var otherVariable = regexp.MustCompile(`\$(?:\d|\{\w+\})|%[sd]|%\(\w+\)s|\\\d|<\w+>`)

var expression = regexp.MustCompile(`\{[^{}]*\}`)

// hasVariables reports whether a template has variables.
func hasVariables(template string) bool { return strings.Contains(template, "{") }

// groupsOf returns the named groups of a pattern.
func groupsOf(pattern string) []string {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil // checkPattern reports it
	}
	return slices.DeleteFunc(re.SubexpNames(), func(name string) bool { return name == "" })
}

func checkNamespaces(f *Diagnostics, namespaces []Namespace) {
	seen := make(map[string]bool)
	for i, ns := range namespaces {
		path := index("namespaces", i)
		nid := strings.ToLower(ns.NID)
		switch err := uri.CheckNID(ns.NID); {
		case ns.NID == "":
			f.Add(path+".nid", "is missing")
		case err != nil && strings.HasPrefix(nid, "urn:"):
			f.Add(path+".nid", "%q is not a NID: write %s", ns.NID, strings.Trim(ns.NID[len("urn:"):], ":"))
		case err != nil:
			f.Add(path+".nid", "%q: %v", ns.NID, err)
		case seen[nid]:
			f.Add(path+".nid", "%q is configured twice", ns.NID)
		}
		seen[nid] = true
		checkPattern(f, path+".pattern", ns.Pattern)
		if len(ns.THTTP) > 0 && len(ns.Order) > 0 && !slices.Contains(ns.Order, "thttp") {
			f.Add(path+".order", "does not include thttp, so the servers of %s.thttp would never be queried", path)
		}
		for j, server := range ns.THTTP {
			checkServer(f, index(path+".thttp", j), server)
		}
		for j, target := range ns.Targets {
			at := index(path+".targets", j)
			checkPattern(f, at+".pattern", target.Pattern)
			checkTarget(f, at, target, ns.Pattern)
		}
	}
}

// checkTarget checks the template and the metadata of a target.
func checkTarget(f *Diagnostics, path string, target Target, pattern string) {
	switch {
	case !target.Gone:
		checkTemplate(f, path+".template", target.Template,
			slices.Concat(ofNames(), groupsOf(pattern), groupsOf(target.Pattern)))
	case target.Template != "":
		f.Add(path+".template", "cannot be combined with gone: names that are gone have no location")
	}
	if _, _, err := mime.ParseMediaType(target.Type); target.Type != "" &&
		(err != nil || !strings.Contains(target.Type, "/")) {
		f.Add(path+".type", "%q is not a media type such as application/pdf", target.Type)
	}
	if _, err := language.Parse(target.Language); target.Language != "" && err != nil {
		f.Add(path+".language", "%q is not a language tag such as en or pt-BR", target.Language)
	}
	if err := uri.CheckRelation(target.Rel); err != nil {
		f.Add(path+".rel", "%q: %v", target.Rel, err)
	}
	checkLine(f, path+".title", target.Title)
	checkLine(f, path+".context", target.Context)
}

// maxLine is the maximum length in bytes of a text of one line.
const maxLine = 4 << 10

// checkLine checks a text that answers contain on one line.
func checkLine(f *Diagnostics, path, text string) {
	if len(text) > maxLine || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r\n") {
		f.Add(path, "must be one line of UTF-8 text with at most %d bytes", maxLine)
	}
}

// Order returns resolve.order, without SLP if that is disabled: it would only add to the reasons of every
// negative answer.
func (c Config) Order() []string {
	if c.SLP.Enabled() {
		return c.Resolve.Order
	}
	return slices.DeleteFunc(slices.Clone(c.Resolve.Order), func(name string) bool { return name == "slp" })
}

// Orders returns the order of resolution systems per namespace, where it differs from Order. Targets and
// servers in the configuration take precedence over the DNS, which need not know the namespace. So do the rules
// of the built-in namespaces in ruled, which have no records in the public DNS.
func (c Config) Orders(ruled []string) map[string][]string {
	order := make(map[string][]string)
	for _, nid := range ruled {
		order[nid] = moveToFront("namespace", c.Order())
	}
	for _, ns := range c.Namespaces {
		nid := strings.ToLower(ns.NID)
		own, ok := order[nid]
		if !ok {
			own = c.Order()
		}
		if len(ns.Targets) > 0 {
			own = toFront("namespace", own)
		}
		if len(ns.THTTP) > 0 {
			own = toFront("thttp", own)
		}
		if len(ns.Order) > 0 {
			own = ns.Order
		}
		order[nid] = own
	}
	return order
}

// moveToFront returns an order with a system moved to the front, if it is in the order.
func moveToFront(name string, order []string) []string {
	if !slices.Contains(order, name) {
		return order
	}
	return toFront(name, order)
}

// toFront returns an order with a system moved or added to the front.
func toFront(name string, order []string) []string {
	return append([]string{name},
		slices.DeleteFunc(slices.Clone(order), func(other string) bool { return other == name })...)
}

// LocationSchemes returns the schemes that locations from THTTP servers may have besides http and https, by
// namespace.
func (c Config) LocationSchemes() map[string][]string {
	return c.byNID(func(ns Namespace) []string { return ns.Schemes })
}

// THTTPServers returns the THTTP servers by namespace.
func (c Config) THTTPServers() map[string][]string {
	return c.byNID(func(ns Namespace) []string { return ns.THTTP })
}

func (c Config) byNID(of func(Namespace) []string) map[string][]string {
	all := make(map[string][]string)
	for _, ns := range c.Namespaces {
		all[strings.ToLower(ns.NID)] = of(ns)
	}
	return all
}
