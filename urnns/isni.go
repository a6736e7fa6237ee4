package urnns

import (
	"github.com/urnd/urnd/uri"
)

var ruleISNI = uri.Rule{
	Code: "isni", Name: "ISNI", Section: "IANA urn-formal/isni",
	Requirement: "an ISNI has sixteen digits, the last may be X",
}

// checkISNI checks the identifier of a public identity, such as a person or an organization: ISO 27729.
func checkISNI(nss string) (int, uri.Rule) {
	for i := range len(nss) {
		if i == 16 || !isDigit(nss[i]) && (i != 15 || uri.Upper(nss[i]) != 'X') {
			return i, ruleISNI
		}
	}
	if len(nss) != 16 {
		return len(nss), ruleISNI
	}
	if want := mod11of2(nss[:15]); uri.Upper(nss[15]) != want {
		return 15, wants(ruleCheckDigit, "ISO 7064 MOD 11-2", string(want))
	}
	return 0, uri.Rule{}
}

// mod11of2 returns the check character of ISO 7064 MOD 11-2.
func mod11of2(digits string) byte {
	sum := 0
	for i := range len(digits) {
		sum = (sum + int(digits[i]-'0')) * 2 % 11
	}
	return "0123456789X"[(12-sum)%11]
}
