package config

import "slices"

func namespaceSettings() []Setting {
	return []Setting{{
		Path: "namespaces", Default: []Namespace{},
		Doc:  "Namespaces of your own, and changes to those that are built in. A list:",
		Form: tableForm,
		Sample: `namespaces:
  - nid: example
    # which part is case-insensitive: none, lower or upper (the whole name),
    # prefix or first (the part before the first hyphen or colon)
    fold: lower
    # what happens to names that fail the check of a built-in namespace, such
    # as a wrong check digit: strict refuses them, warn accepts them and says
    # so in the trace
    check: strict
    # octets that are ignored
    strip: "-"
    # what a canonical name must match; its named groups are variables
    pattern: '^(?P<kind>[a-z]+):(?P<id>.+)$'
    # as resolve.order; where it is not set, thttp goes first if servers are given,
    # then namespace if targets are, then the systems of resolve.order
    order: [thttp, namespace]
    # servers that resolve the names by THTTP, asked in order
    thttp: [https://resolver.example.org]
    # the schemes of locations that such servers may return, in addition to http
    # and https; if it is not set, those of RFC 1738 that lead somewhere
    schemes: [ftp]
    # the locations of names: URI templates (RFC 6570) with the variables urn, nid,
    # nss, the groups, and c, the directive of that name. {+id} inserts a part of the
    # name as it is, {id} encodes it once more, for the value of a parameter. A target
    # with a pattern is for the names that match it. If there are several, clients are
    # redirected to the one whose type and language they accept; both are optional.
    # Names that match a target which is gone are answered 410.
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

// Elements returns the settings in lists of tables; "*" stands for the index in the list.
// They are optional unless their Doc says otherwise.
func Elements() []Setting {
	return slices.Concat([]Setting{
		{Path: "ddds.root_options.*.root", Doc: "one of ddds.roots or ddds.uri_roots; it must be set", Form: "domain name"},
		{Path: "ddds.root_options.*.servers", Doc: "as dns.servers, for this root and all domains to which its rules lead", Form: "IP address, with or without port, or tls:// and one"},
		{Path: "ddds.root_options.*.require_dnssec", Doc: "accept only data that these servers mark as authenticated (the AD bit)"},
		{Path: "resolve.identifiers.*.pattern", Doc: "what the whole identifier must match; its named groups are variables; it must be set", Form: "regular expression (RE2)"},
		{Path: "resolve.identifiers.*.template", Doc: "the URI of the identifier; it must be set", Form: "URI template (RFC 6570)"},
		{Path: "namespaces.*.nid", Doc: "which namespace; it must be set", Form: "NID"},
		{Path: "namespaces.*.fold", Doc: "which part of names is case-insensitive: the whole name, or the part before the first hyphen or colon (prefix) or the first colon (first)", OneOf: folds()},
		{Path: "namespaces.*.strip", Doc: "octets of names that are ignored", Form: "text"},
		{Path: "namespaces.*.check", Doc: "what happens to names that fail the check of a built-in namespace: they are refused (strict) or accepted (warn)", OneOf: checks()},
		{Path: "namespaces.*.pattern", Doc: "what a canonical name must match; its named groups are variables of templates", Form: "regular expression (RE2)"},
		{Path: "namespaces.*.order", Doc: "as resolve.order; where it is not set, thttp goes first if servers are given, then namespace if targets are", OneOf: systems()},
		{Path: "namespaces.*.thttp", Doc: "servers that resolve the names by THTTP, asked in order", Form: "http:// or https:// and a host"},
		{Path: "namespaces.*.schemes", Doc: "schemes of locations that such servers may return, in addition to http and https; empty: all that lead somewhere", OneOf: schemes()},
		{Path: "namespaces.*.targets", Doc: "the locations of names, the best first", Form: tableForm},
		{Path: "namespaces.*.targets.*.pattern", Doc: "which canonical names; empty: all", Form: "regular expression (RE2)"},
		{Path: "namespaces.*.targets.*.template", Doc: "their location; it must be set, except with gone", Form: "URI template (RFC 6570)"},
		{Path: "namespaces.*.targets.*.type", Doc: "the media type of the resource", Form: "media type"},
		{Path: "namespaces.*.targets.*.language", Doc: "its language", Form: "language tag"},
		{Path: "namespaces.*.targets.*.gone", Doc: "the names have no location any more, and are answered 410"},
	}, proxyElements(), gatewayElements())
}

func folds() []string { return []string{"none", "lower", "upper", "prefix", "first"} }

func checks() []string { return []string{"strict", "warn"} }
