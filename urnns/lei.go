package urnns

import (
	"fmt"

	"github.com/urnd/urnd/uri"
)

var ruleLEI = uri.Rule{
	Code: "lei", Name: "LEI", Section: "ISO 17442",
	Requirement: "an LEI is 18 letters and digits and two check digits",
}

// checkLEI checks a Legal Entity Identifier, ISO 17442.
func checkLEI(nss string) (int, uri.Rule) {
	for i := range len(nss) {
		if b := nss[i]; !isDigit(b) && (!isLetter(b) || i > 17) {
			return i, ruleLEI
		}
	}
	if len(nss) != 20 {
		return min(len(nss), 20), ruleLEI
	}
	if want := mod97(nss[:18]); nss[18:] != want {
		return 18, wants(ruleCheckDigits, "ISO 7064 MOD 97-10", want)
	}
	return 0, uri.Rule{}
}

// mod97 returns the two check digits of ISO 7064 MOD 97-10, with A = 10.
func mod97(s string) string {
	remainder := 0
	for i := range len(s) {
		if b := uri.Upper(s[i]); isDigit(b) {
			remainder = (remainder*10 + int(b-'0')) % 97
		} else {
			remainder = (remainder*100 + int(b-'A') + 10) % 97
		}
	}
	return fmt.Sprintf("%02d", 98-remainder*100%97)
}
