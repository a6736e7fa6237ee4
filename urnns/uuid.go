package urnns

import "github.com/urnd/urnd/uri"

var ruleUUID = uri.Rule{
	Code: "uuid", Name: "UUID", Section: "RFC 4122 section 3",
	Requirement: "a UUID is 8-4-4-4-12 hexadecimal digits",
}

// checkUUID checks a UUID: RFC 4122 section 3, now RFC 9562 section 4.
func checkUUID(nss string) (int, uri.Rule) {
	for i := range min(len(nss), 36) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (nss[i] == '-') || !hyphen && !isHex(nss[i]) {
			return i, ruleUUID
		}
	}
	if len(nss) != 36 {
		return min(len(nss), 36), ruleUUID
	}
	return 0, uri.Rule{}
}
