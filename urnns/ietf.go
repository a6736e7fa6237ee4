package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var (
	ruleIETFEscape = uri.Rule{
		Code: "ietf_percent", Name: "ietf NSS", Section: "RFC 2648 section 4",
		Requirement: "names of this namespace contain no percent-encoding",
	}
	ruleIETFNumber = uri.Rule{
		Code: "ietf_number", Name: "rfc-nss", Section: "RFC 2648 section 2",
		Requirement: "the words rfc, std, bcp and fyi are followed by a number",
	}
	ruleIETFString = uri.Rule{
		Code: "ietf_string", Name: "draft-nss", Section: "RFC 2648 section 2",
		Requirement: "the words id and mtg are followed by letters, digits and hyphens",
	}
)

// checkIETF follows the grammar of RFC 2648 section 2. Unknown prefixes are allowed, as the section requires,
// since a series may be added at any time.
func checkIETF(nss string) (int, uri.Rule) {
	series, name, _ := strings.Cut(nss, ":")
	i := 0
	switch {
	case uri.EqualFold(series, "rfc"), uri.EqualFold(series, "std"), uri.EqualFold(series, "bcp"),
		uri.EqualFold(series, "fyi"):
		for i < len(name) && isDigit(name[i]) {
			i++
		}
		if i == 0 || i < len(name) {
			return failureIETF(nss, len(nss)-len(name)+i, ruleIETFNumber)
		}
	case uri.EqualFold(series, "id"), uri.EqualFold(series, "mtg"):
		for i < len(name) && isIETFString(name[i]) {
			i++
		}
		if i == 0 || i < len(name) {
			return failureIETF(nss, len(nss)-len(name)+i, ruleIETFString)
		}
	case strings.IndexByte(nss, '%') >= 0:
		return failureIETF(nss, 0, uri.Rule{})
	}
	return 0, uri.Rule{}
}

// failureIETF returns the rule broken at an offset, unless there is a percent-encoding, which has precedence.
func failureIETF(nss string, at int, rule uri.Rule) (int, uri.Rule) {
	if i := strings.IndexByte(nss, '%'); i >= 0 {
		return i, ruleIETFEscape
	}
	return at, rule
}

// isIETFString reports whether names of drafts and meetings may contain b.
func isIETFString(b byte) bool {
	return isDigit(b) || isLetter(b) || b == '-' || b == '.' || b == '_'
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isLetter(b byte) bool { return 'a' <= uri.Lower(b) && uri.Lower(b) <= 'z' }

func isHex(b byte) bool { return isDigit(b) || 'a' <= uri.Lower(b) && uri.Lower(b) <= 'f' }
