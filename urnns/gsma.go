package urnns

import "strings"

// withoutVersion0 returns an IMEI without the parameters vers=0, which is the default: RFC 7254 section 3.
func withoutVersion0(nss string) string {
	const version0 = ";vers=0"
	if !strings.Contains(nss, version0) {
		return nss
	}
	nss += ";"
	for strings.Contains(nss, version0+";") { // of two in a row, each pass removes one
		nss = strings.ReplaceAll(nss, version0+";", ";")
	}
	return strings.TrimSuffix(nss, ";")
}
