package config

func namespaceSettings() []Setting {
	return []Setting{{
		Path: "namespaces", Default: []Namespace{},
		Doc:  "Namespaces of your own, and changes to those that are built in. A list:",
		Form: "table",
		Sample: `namespaces:
  - nid: example
    # which case does not count: none, lower or upper (the whole name),
    # prefix or first (what stands before the first hyphen or colon)
    fold: lower
    # what happens to names that fail the check of a namespace that is built
    # in, such as a wrong check digit: strict refuses them, warn accepts them
    # and says so in the trace
    check: strict
    # octets that do not count
    strip: "-"
    # what a canonical name must match; its named groups are variables
    pattern: '^(?P<kind>[a-z]+):(?P<id>.+)$'
    # as resolve.order; where it is not set, thttp goes first if servers are given
    order: [thttp, namespace]
    # servers that resolve the names by THTTP, asked in order
    thttp: [https://resolver.example.org]
    # the schemes of locations that such servers may name, beside http and https
    schemes: [ftp]
    # where names lead: URI templates (RFC 6570), which know urn, nid, nss, the
    # groups, and c, the directive of that name. {+id} puts in a part of the name
    # as it is, {id} encodes it once more, for the value of a parameter. A target
    # with a pattern is for the names that match it. Of several, clients are sent to
    # the one whose type and language they accept; both may be left out. Names that
    # match a target which is gone are answered 410.
    targets:
      - pattern: '^lost:'
        gone: true
      - pattern: '^book:'
        template: https://books.example/{+id}.pdf
        type: application/pdf
        language: en
      - template: https://example.org/{+urn}`,
	}}
}

// Elements returns what is to be said of the settings in lists of tables; "*" stands for
// the place in the list. None of them must be set but for those that say so.
func Elements() []Setting {
	return []Setting{
		{Path: "ddds.root_options.*.root", Doc: "one of ddds.roots or ddds.uri_roots; it must be set", Form: "domain name"},
		{Path: "ddds.root_options.*.servers", Doc: "as dns.servers, for this root and all to which its rules lead", Form: "IP address, with or without port, or tls:// and one"},
		{Path: "ddds.root_options.*.require_dnssec", Doc: "take nothing but what these servers call authenticated"},
		{Path: "namespaces.*.nid", Doc: "which namespace; it must be set", Form: "NID"},
		{Path: "namespaces.*.fold", Doc: "which case of names does not count: of the whole name, or of what stands before the first hyphen or colon (prefix) or the first colon (first)", OneOf: folds()},
		{Path: "namespaces.*.strip", Doc: "octets of names that do not count", Form: "text"},
		{Path: "namespaces.*.check", Doc: "what becomes of names that fail the check of a namespace that is built in", OneOf: checks()},
		{Path: "namespaces.*.pattern", Doc: "what a canonical name must match; its named groups are variables of templates", Form: "regular expression (RE2)"},
		{Path: "namespaces.*.order", Doc: "as resolve.order; where it is not set, thttp goes first if servers are given", OneOf: systems()},
		{Path: "namespaces.*.thttp", Doc: "servers that resolve the names by THTTP, asked in order", Form: "http:// or https:// and a host"},
		{Path: "namespaces.*.schemes", Doc: "schemes of locations that such servers may name, beside http and https", OneOf: schemes()},
		{Path: "namespaces.*.targets", Doc: "where names lead, the best first", Form: "table"},
		{Path: "namespaces.*.targets.*.pattern", Doc: "which canonical names; empty is all", Form: "regular expression (RE2)"},
		{Path: "namespaces.*.targets.*.template", Doc: "where they lead; it must be set, but for gone", Form: "URI template (RFC 6570)"},
		{Path: "namespaces.*.targets.*.type", Doc: "the media type of what is there", Form: "media type"},
		{Path: "namespaces.*.targets.*.language", Doc: "its language", Form: "language tag"},
		{Path: "namespaces.*.targets.*.gone", Doc: "the names lead nowhere any more, and are answered 410"},
	}
}

func folds() []string { return []string{"none", "lower", "upper", "prefix", "first"} }

func checks() []string { return []string{"strict", "warn"} }
