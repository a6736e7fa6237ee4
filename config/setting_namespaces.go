package config

func namespaceSettings() []Setting {
	return []Setting{{
		Path: "namespaces",
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
