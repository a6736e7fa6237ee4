package urnns

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/uri"
)

// issn is RFC 3044.
func issn() Namespace {
	return Namespace{
		NID:    "issn",
		Fold:   FoldUpper, // RFC 3044 section 3.2: "x" is "X"
		Strip:  "-",       // section 3.2: hyphens do not count
		Check:  checkISSN,
		Source: "RFC 3044, RFC 8254",
		Targets: []Target{
			{`^(?P<a>.{4})(?P<b>.{4})$`, "https://portal.issn.org/resource/ISSN/{a}-{b}"},
		},
	}
}

var ruleISSN = uri.Rule{Name: "ISSN", Section: "RFC 3044 section 3.1", Says: "an ISSN has eight digits, the last may be X, with or without a hyphen in the middle"}

func checkISSN(nss string) (int, uri.Rule) {
	digits := strings.Replace(nss, "-", "", 1)
	for i := range len(nss) {
		b := nss[i]
		if !isDigit(b) && (b != '-' || i != 4) && (i != len(nss)-1 || upper(b) != 'X') {
			return i, ruleISSN
		}
	}
	if len(digits) != 8 {
		return len(nss), ruleISSN
	}
	if want := mod11(digits[:7]); upper(digits[7]) != want {
		return len(nss) - 1, uri.Rule{
			Name: "check digit", Section: "ISO 3297",
			Says: fmt.Sprintf("the check digit should be %c", want),
		}
	}
	return 0, uri.Rule{}
}
