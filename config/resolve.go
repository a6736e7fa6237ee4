package config

import (
	"net/http"
	"time"
)

// Resolve bounds one resolution.
type Resolve struct {
	Timeout time.Duration `mapstructure:"timeout"`
	// Order names the systems that are queried for a URN, first to last.
	Order []string `mapstructure:"order"`
	// Backoff is how long a server that could not be reached is not asked again; 0 always
	// asks it.
	Backoff time.Duration `mapstructure:"backoff"`
	// RuleTTL is the TTL of answers from namespace rules, which have no TTL of their own.
	RuleTTL time.Duration `mapstructure:"rule_ttl"`
	// MaxTTL bounds the TTL of what others say: record sets, and answers by THTTP.
	MaxTTL time.Duration `mapstructure:"max_ttl"`
	// Fallback is a URI template: clients are redirected there for names that no
	// system resolves. Empty: the status is UnknownStatus.
	Fallback string `mapstructure:"elsewhere"`
	// UnknownStatus is 404, 501 or 502.
	UnknownStatus int `mapstructure:"unknown_status"`
	// Identifiers are identifiers without "urn:", before the built-in ones.
	Identifiers []Identifier `mapstructure:"identifiers"`
}

func resolveSettings() []Setting {
	return []Setting{
		{Path: "resolve", Invalidates: Records | Answers | Snapshot, Doc: "How names are resolved."},
		{
			Path: "resolve.timeout", Default: 10 * time.Second, Least: time.Millisecond, Most: 5 * time.Minute,
			Doc: "for one name, all queries together",
		},
		{
			Path: "resolve.order", Default: []string{"ddds", "slp", "namespace"}, OneOf: systems(), check: checkNotEmpty,
			Doc: "The systems that are queried for a URN until one knows its namespace. The built-in namespaces that " +
				"have targets (ietf, isbn, doi and others: see urnd namespaces), and those that you give targets, are " +
				"resolved by their rules first; see namespaces.order. thttp queries the servers of namespaces.thttp, " +
				"slp the directory agents of slp.agents; slp is skipped if there are none.",
		},
		{
			Path: "resolve.backoff", Default: 5 * time.Second, Least: time.Duration(0), Most: 5 * time.Minute,
			Doc: "how long a server (DNS, THTTP, SLP) that could not be reached is not asked again: meanwhile names " +
				"that need it fail at once; 0 always asks it",
		},
		{
			Path: "resolve.rule_ttl", Default: day, Least: time.Duration(0), Most: 365 * day,
			Doc: "TTL of answers from namespace rules; answers from the DNS have their own",
		},
		{
			Path: "resolve.max_ttl", Default: week, Least: time.Second, Most: 365 * day,
			Doc: "the maximum TTL of what others say: DNS records, and answers by THTTP",
		},
		{
			Path: "resolve.elsewhere", Form: "URI template", check: checkFallback,
			Doc: "Where clients are redirected for names that none of the systems resolves: a URI template, as in " +
				"namespaces: https://resolver.example.org/{+urn}",
		},
		{
			Path: "resolve.unknown_status", Default: http.StatusNotFound, OneOf: []string{"404", "501", "502"},
			Doc: "The status of such names if elsewhere is empty. A name that does not exist, according to a system, " +
				"is always 404, one that is gone 410.",
		},
		{
			Path: "resolve.identifiers", Default: []Identifier{}, Form: tableForm, Elements: identifierElements(),
			Doc: "Identifiers that people use without urn: and what they mean, before those that are built in (a bare " +
				"ISBN, ISSN or DOI, and doi:, hdl: and ark:). A list:",
			Sample: "identifiers:\n  - pattern: '^shelf (?P<number>[0-9]+)$'\n    template: urn:library:shelf:{number}",
		},
	}
}

// Identifier makes identifiers of a form, such as a bare ISBN, into URIs.
type Identifier struct {
	Pattern  string `mapstructure:"pattern"`  // of the whole identifier
	Template string `mapstructure:"template"` // a URI template, RFC 6570
}

func identifierElements() []Setting {
	return []Setting{
		{
			Path: "resolve.identifiers.*.pattern", Form: "regular expression (RE2)",
			Doc: "what the whole identifier must match; its named groups are variables; it must be set",
		},
		{
			Path: "resolve.identifiers.*.template", Form: "URI template (RFC 6570)",
			Doc: "the URI of the identifier; it must be set",
		},
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

func checkIdentifiers(f *Faults, identifiers []Identifier) {
	for i, identifier := range identifiers {
		at := index("resolve.identifiers", i)
		if identifier.Pattern == "" {
			f.add(at+".pattern", "is missing")
		}
		checkPattern(f, at+".pattern", identifier.Pattern)
		checkTemplate(f, at+".template", identifier.Template, groupsOf(identifier.Pattern), "doi", "hdl", "ark")
	}
}

func checkOrder(f *Faults, path string, order []string) {
	Setting{Path: path, OneOf: systems()}.validate(f, order)
}
