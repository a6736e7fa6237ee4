package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var (
	ruleNBNPrefix = uri.Rule{Name: "prefix", Section: "RFC 8458 section 4.2", Says: "an NBN begins with a two-letter country code, and sub-namespaces of letters and digits after colons"}
	ruleNBNString = uri.Rule{Name: "nbn-string", Section: "RFC 8458 section 4.2", Says: "the prefix is followed by a hyphen and the name that the library assigned"}
)

// checkNBN is RFC 8458: names assigned by national libraries. Names in use lack the
// hyphen, such as urn:nbn:hr:162:276509; the grammar of section 4.2 requires it, but
// its text only with SHOULD.
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
	if found && name == "" || !found && !strings.Contains(prefix, ":") {
		return len(nss), ruleNBNString
	}
	return 0, uri.Rule{}
}
