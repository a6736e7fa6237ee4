package urnns

import "strings"

// withoutVersion0 returns an IMEI without the parameter vers=0, which is the default: RFC 7254 section 3.
func withoutVersion0(nss string) string {
	const version0 = ";vers=0"
	before, after, found := strings.Cut(nss, version0)
	if !found || after != "" && after[0] != ';' {
		return nss
	}
	return before + after
}
