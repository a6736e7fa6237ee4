package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var ruleISSN = uri.Rule{
	Code: "issn", Name: "ISSN", Section: "RFC 3044 section 3.1",
	Requirement: "an ISSN has eight digits, the last may be X, with or without a hyphen in the middle",
}

// checkISSN checks an ISSN: RFC 3044.
func checkISSN(nss string) (int, uri.Rule) {
	digits := strings.Replace(nss, "-", "", 1)
	for i := range len(nss) {
		b := nss[i]
		if !isDigit(b) && (b != '-' || i != 4) && (i != len(nss)-1 || uri.Upper(b) != 'X') {
			return i, ruleISSN
		}
	}
	if len(digits) != 8 {
		return len(nss), ruleISSN
	}
	if want := mod11(digits[:7]); uri.Upper(digits[7]) != want {
		return len(nss) - 1, wants(ruleCheckDigit, "ISO 3297", string(want))
	}
	return 0, uri.Rule{}
}
