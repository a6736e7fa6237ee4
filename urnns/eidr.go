package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var ruleEIDR = uri.Rule{
	Code: "eidr", Name: "EIDR", Section: "RFC 7972 section 2",
	Requirement: "an EIDR is a DOI prefix, a colon and a suffix",
}

// checkEIDR checks content identifiers (prefix 10.5240). Identifiers of parties and services have other
// prefixes and no check character.
func checkEIDR(nss string) (int, uri.Rule) {
	prefix, suffix, ok := strings.Cut(nss, ":")
	if !ok || !strings.HasPrefix(prefix, "10.") || suffix == "" {
		return len(nss), ruleEIDR
	}
	if prefix != "10.5240" {
		return 0, uri.Rule{}
	}
	const pattern = "hhhh-hhhh-hhhh-hhhh-hhhh-c" // hexadecimal digits and a check character
	at := len(prefix) + 1
	for i := range min(len(suffix), len(pattern)) {
		b := suffix[i]
		if hyphen := pattern[i] == '-'; hyphen != (b == '-') || pattern[i] == 'h' && !isHex(b) ||
			pattern[i] == 'c' && !isDigit(b) && !isLetter(b) {
			return at + i, ruleEIDR
		}
	}
	if len(suffix) != len(pattern) {
		return at + min(len(suffix), len(pattern)), ruleEIDR
	}
	if want := mod37(strings.ReplaceAll(suffix[:len(pattern)-2], "-", "")); uri.Upper(suffix[len(suffix)-1]) != want {
		return len(nss) - 1, wants(ruleCheckCharacter, "ISO 7064 MOD 37,36", string(want))
	}
	return 0, uri.Rule{}
}

// mod37 returns the check character of ISO 7064 MOD 37,36, with A = 10.
func mod37(s string) byte {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	p := 36
	for i := range len(s) {
		p = (p + strings.IndexByte(alphabet, uri.Upper(s[i]))) % 36
		if p == 0 {
			p = 36
		}
		p = p * 2 % 37
	}
	return alphabet[(37-p)%36]
}
