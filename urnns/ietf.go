package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var (
	ruleIETFEscape = uri.Rule{Name: "ietf NSS", Section: "RFC 2648 section 4", Says: "names of this namespace hold no percent-encoding"}
	ruleIETFNumber = uri.Rule{Name: "rfc-nss", Section: "RFC 2648 section 2", Says: "rfc, std, bcp and fyi are followed by a number"}
	ruleIETFString = uri.Rule{Name: "draft-nss", Section: "RFC 2648 section 2", Says: "id and mtg are followed by letters, digits and hyphens"}
)

// checkIETF follows the grammar of RFC 2648 section 2. Prefixes it does not
// know are allowed, as the section wants: a series may be added at any time.
func checkIETF(nss string) (int, uri.Rule) {
	if i := strings.IndexByte(nss, '%'); i >= 0 {
		return i, ruleIETFEscape
	}
	series, name, found := strings.Cut(nss, ":")
	at := len(series) + 1
	switch strings.ToLower(series) {
	case "rfc", "std", "bcp", "fyi":
		for i := range len(name) {
			if !isDigit(name[i]) {
				return at + i, ruleIETFNumber
			}
		}
		if name == "" {
			return min(at, len(nss)), ruleIETFNumber
		}
	case "id", "mtg":
		for i := range len(name) {
			if b := name[i]; !isDigit(b) && !isLetter(b) && b != '-' && b != '.' && b != '_' {
				return at + i, ruleIETFString
			}
		}
		if !found || name == "" {
			return min(at, len(nss)), ruleIETFString
		}
	}
	return 0, uri.Rule{}
}

// isIETFParameter: RFC 2648 section 2 gives no name of the namespace a case, but
// RFC 3553 section 3 compares those of its protocol parameters exactly.
func isIETFParameter(nss string) bool {
	series, _, _ := strings.Cut(nss, ":")
	return strings.EqualFold(series, "params")
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isLetter(b byte) bool { return 'a' <= lower(b) && lower(b) <= 'z' }

func isHex(b byte) bool { return isDigit(b) || 'a' <= lower(b) && lower(b) <= 'f' }
