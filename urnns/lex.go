package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var ruleLEX = uri.Rule{
	Code: "lex", Name: "NSS", Section: "RFC 9676",
	Requirement: "a name of a source of law begins with its jurisdiction, such " +
		"as it or br;sao.paulo, a colon, and its local name",
}

// checkLEX checks a source of law (RFC 9676): the jurisdiction, which may have units after semicolons, and the
// local name.
func checkLEX(nss string) (int, uri.Rule) {
	jurisdiction, local, _ := strings.Cut(nss, ":")
	at := 0
	for i, part := range strings.Split(jurisdiction, ";") {
		if part == "" || i == 0 && !isLetter(part[0]) {
			return at, ruleLEX
		}
		at += len(part) + 1
	}
	if local == "" || local[0] == ':' {
		return min(len(jurisdiction)+1, len(nss)), ruleLEX
	}
	return 0, uri.Rule{}
}
