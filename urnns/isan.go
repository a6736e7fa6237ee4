package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var ruleISAN = uri.Rule{
	Code: "isan", Name: "ISAN", Section: "RFC 4246",
	Requirement: "an ISAN is four groups of four hexadecimal digits, or six " +
		"with a version, with or without check characters",
}

// checkISAN checks an ISAN (RFC 4246), an audiovisual work: 16 hexadecimal digits, or 24 with a version. Each
// part may be followed by a check character.
func checkISAN(nss string) (int, uri.Rule) {
	if longest := len("hhhh-hhhh-hhhh-hhhh-c-hhhh-hhhh-c"); len(nss) > longest {
		return longest, ruleISAN
	}
	groups := strings.Split(nss, "-")
	digits, at := "", 0
	for i, group := range groups {
		switch {
		case len(group) == 4 && strings.Trim(group, "0123456789abcdefABCDEF") == "":
			digits += group
		case len(group) == 1 && i > 0 && len(groups[i-1]) == 4 && mayBeChecked(digits, i == len(groups)-1):
			if want := mod37(digits); uri.Upper(group[0]) != want {
				return at, wants(ruleCheckCharacter, "ISO 7064 MOD 37,36", string(want))
			}
		default:
			return at, ruleISAN
		}
		at += len(group) + 1
	}
	if len(digits) != 16 && len(digits) != 24 {
		return len(nss), ruleISAN
	}
	return 0, uri.Rule{}
}

// mayBeChecked reports whether a check character may follow digits: after the work, and after the version at
// the end of the name.
func mayBeChecked(digits string, last bool) bool {
	return len(digits) == 16 || len(digits) == 24 && last
}
