package config

import (
	"net/http"
	"slices"
	"time"

	"github.com/urnd/urnd/uri"
)

func resolveSettings() []Setting {
	return []Setting{
		{Path: "resolve", Doc: "How names are resolved."},
		{Path: "resolve.timeout", Default: 10 * time.Second, Doc: "for one name, all queries together", Least: time.Millisecond, Most: 5 * time.Minute},
		{
			Path: "resolve.order", Default: []string{"ddds", "slp", "namespace"},
			Doc: "The systems that are queried for a URN until one knows its namespace. The built-in namespaces that " +
				"have targets (ietf, isbn, doi and others: see urnd namespaces), and those that you give targets, are " +
				"resolved by their rules first; see namespaces.order. thttp queries the servers of namespaces.thttp, slp the directory agents of slp.agents; " +
				"slp is skipped if there are none.",
			OneOf: systems(), check: checkNotEmpty,
		},
		{
			Path: "resolve.backoff", Default: 5 * time.Second,
			Doc: "how long a server (DNS, THTTP, SLP) that could not be reached is not asked again: meanwhile names that " +
				"need it fail at once; 0 always asks it",
			Least: time.Duration(0), Most: 5 * time.Minute,
		},
		{Path: "resolve.rule_ttl", Default: day, Doc: "TTL of answers from namespace rules; answers from the DNS have their own", Least: time.Duration(0), Most: 365 * day},
		{
			Path: "resolve.elsewhere",
			Doc: "Where clients are redirected for names that none of the systems resolves: a URI template, as in " +
				"namespaces: https://resolver.example.org/{+urn}",
			Form: "URI template", check: checkFallback,
		},
		{
			Path: "resolve.unknown_status", Default: http.StatusNotFound,
			Doc: "The status of such names if elsewhere is empty. A name that does not exist, according to a system, is " +
				"always 404, one that is gone 410.",
			OneOf: []string{"404", "501", "502"},
		},
		{
			Path: "resolve.identifiers", Default: []Identifier{},
			Doc: "Identifiers that people use without urn: and what they mean, before those that are built in (a bare ISBN, " +
				"ISSN or DOI, and doi:, hdl: and ark:). A list:",
			Sample: "identifiers:\n  - pattern: '^shelf (?P<number>[0-9]+)$'\n    template: urn:library:shelf:{number}",
			Form:   tableForm,
		},
		{
			Path: "urn",
			Doc: "Which names are accepted as URNs: each part must conform to at least one of these specifications: rfc2141, " +
				"draft (draft-ietf-urnbis-rfc2141bis-urn-03) and rfc8141. Others are answered 400. A list of one " +
				"accepts only that specification:",
			Sample: "accept: [rfc8141]",
		},
		{Path: "urn.accept", Default: uri.CurrentURN.Names(), Doc: "the specifications", OneOf: (uri.RFC2141 | uri.CurrentURN).Names(), check: checkAccept},
	}
}

// systems are the names of the systems that resolve names.
func systems() []string { return []string{"ddds", "slp", "thttp", "namespace"} }

func checkNotEmpty(f *Faults, path string, value any) {
	if list, _ := value.([]string); len(list) == 0 {
		f.add(path, "names no system, so no URN would be resolved")
	}
}

func checkFallback(f *Faults, path string, value any) {
	if template, _ := value.(string); template != "" {
		checkTemplate(f, path, template, []string{"urn", "nid", "nss"})
	}
}

func checkAccept(f *Faults, path string, value any) {
	if accept, _ := value.([]string); len(accept) == 0 {
		f.add(path, "names no specification, so every URN would be refused")
	}
}

func checkOrder(f *Faults, path string, order []string) {
	Setting{Path: path, OneOf: systems()}.validate(f, order)
}

func checkRootOptions(f *Faults, path string, c DDDS) {
	seen := make(map[string]bool)
	for i, o := range c.RootOptions {
		at := index(path, i) + ".root"
		switch {
		case !slices.ContainsFunc(slices.Concat(c.Roots, c.URIRoots), func(root string) bool { return sameDomain(root, o.Root) }):
			f.add(at, "%q is not one of ddds.roots or ddds.uri_roots", o.Root)
		case seen[uri.CanonicalDomain(o.Root)]:
			f.add(at, "%q is configured twice", o.Root)
		}
		seen[uri.CanonicalDomain(o.Root)] = true
	}
}
