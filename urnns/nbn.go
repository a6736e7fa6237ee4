package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// nbn is RFC 8458: names given by national libraries, each of which runs a
// resolver for its own country.
func nbn() Namespace {
	return Namespace{
		NID:    "nbn",
		Fold:   FoldPrefix, // RFC 8458 section 4.3: only the prefix has no case
		Check:  checkNBN,
		Source: "RFC 8458",
		Targets: []Target{
			{`^(?:de|at|ch)[:-]`, "https://nbn-resolving.org/{+urn}"},
			{`^fi[:-]`, "https://urn.fi/{+urn}"},
			{`^no[:-]`, "https://urn.nb.no/{+urn}"},
			{`^se[:-]`, "https://urn.kb.se/resolve?urn={+urn}"},
			{`^nl[:-]`, "https://persistent-identifier.nl/{+urn}"},
			{`^it[:-]`, "https://nbn.depositolegale.it/{+urn}"},
		},
	}
}

var (
	ruleNBNPrefix = uri.Rule{Name: "prefix", Section: "RFC 8458 section 4.2", Says: "an NBN begins with a two-letter country code, and sub-namespaces of letters and digits after colons"}
	ruleNBNString = uri.Rule{Name: "nbn-string", Section: "RFC 8458 section 4.2", Says: "the prefix is followed by a hyphen and the name that the library gave"}
)

func checkNBN(nss string) (int, uri.Rule) {
	prefix, name, found := strings.Cut(nss, "-")
	at := 0
	for i, part := range strings.Split(prefix, ":") {
		for j := range len(part) {
			if !isLetter(part[j]) && (i == 0 || !isDigit(part[j])) {
				return at + j, ruleNBNPrefix
			}
		}
		if part == "" || i == 0 && len(part) != 2 {
			return at, ruleNBNPrefix
		}
		at += len(part) + 1
	}
	if !found || name == "" {
		return len(nss), ruleNBNString
	}
	return 0, uri.Rule{}
}
