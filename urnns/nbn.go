package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var (
	ruleNBNPrefix = uri.Rule{
		Code: "nbn_prefix", Name: "prefix", Section: "RFC 8458 section 4.2",
		Requirement: "an NBN begins with a two-letter country " +
			"code, and sub-namespaces of letters and digits after colons",
	}
	ruleNBNString = uri.Rule{
		Code: "nbn_string", Name: "nbn-string", Section: "RFC 8458 section 4.2",
		Requirement: "the prefix is followed by a hyphen and the name that the library assigned",
	}
)

// checkNBN checks a name assigned by a national library: RFC 8458. Names in use lack the hyphen, such as
// urn:nbn:hr:162:276509; the grammar of section 4.2 requires it, but its text only with SHOULD.
func checkNBN(nss string) (int, uri.Rule) {
	prefix, name, found := strings.Cut(nss, "-")
	at := 0
	for part := range strings.SplitSeq(prefix, ":") {
		for j := range len(part) {
			if !isLetter(part[j]) && (at == 0 || !isDigit(part[j])) {
				return at + j, ruleNBNPrefix
			}
		}
		if part == "" || at == 0 && len(part) != 2 {
			return at, ruleNBNPrefix
		}
		at += len(part) + 1
	}
	if found && name == "" || !found && !strings.Contains(prefix, ":") {
		return len(nss), ruleNBNString
	}
	if uri.EqualFold(nss[:2], "de") {
		return checkDNB(nss)
	}
	return 0, uri.Rule{}
}

// dnbValues are the values of characters for the check digit of names of the Deutsche Nationalbibliothek; other
// characters have none.
const dnbValues = " +49 -39 .47 /45 01 12 23 34 45 56 67 78 89 941 :17 " +
	"a18 b14 c19 d15 e16 f21 g22 h23 i24 j25 k42 l26 m27 n13 o28 p29 q31 r12 s32 t33 u11 v34 w35 x36 y37 z38 _43 "

// checkDNB checks the last digit of a name in urn:nbn:de, by the "Description of algorithm for calculation of
// URN check digit" of the Deutsche Nationalbibliothek. The digits of the values of all preceding characters,
// each multiplied by its position, are summed, and the sum is divided by the last digit; the check digit is the
// last digit of the quotient. It is undefined for names with other characters, which are accepted.
func checkDNB(nss string) (int, uri.Rule) {
	last := len(nss) - 1
	sum, position, divisor := 0, 0, 1
	for _, b := range []byte("urn:nbn:" + nss[:last]) {
		_, after, ok := strings.Cut(dnbValues, " "+string(uri.Lower(b)))
		if !ok {
			return 0, uri.Rule{}
		}
		value, _, _ := strings.Cut(after, " ")
		for i := range len(value) {
			position++
			divisor = int(value[i] - '0')
			sum += position * divisor
		}
	}
	if want := "0123456789"[sum/divisor%10]; nss[last] != want {
		return last, wants(ruleCheckDigit, "Deutsche Nationalbibliothek", string(want))
	}
	return 0, uri.Rule{}
}
