package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var ruleISBN = uri.Rule{Code: "isbn", Name: "ISBN", Section: "RFC 3187 section 3.1", Says: "an ISBN has 10 or 13 digits, the last of 10 " +
	"may be X, with or without hyphens"}

var ruleISMN = uri.Rule{Code: "isbn_ismn", Name: "ISBN", Section: "ISO 10957", Says: "an ISBN does not begin with 979-0: that is an ISMN, of printed music"}

var rulePrefix13 = uri.Rule{Code: "isbn_prefix", Name: "ISBN", Section: "ISO 2108", Says: "an ISBN of 13 digits begins with 978 or 979: other " +
	"EANs are not for books"}

// checkISBN is RFC 3187 with the 13-digit form of the registration of 2017.
func checkISBN(nss string) (int, uri.Rule) {
	var buf [32]byte // it holds a valid one, which takes no allocation then
	digits := string(appendWithout(buf[:0], nss, '-'))
	end := len(strings.TrimRight(nss, "-")) - 1 // of the check digit
	for i := range len(nss) {
		last := i == end && len(digits) == 10
		if b := nss[i]; !isDigit(b) && b != '-' && (!last || uri.Upper(b) != 'X') {
			return i, ruleISBN
		}
	}
	var want byte
	switch len(digits) {
	case 10:
		want = mod11(digits[:9])
	case 13:
		if digits[:3] != "978" && digits[:3] != "979" {
			return 0, rulePrefix13
		}
		if digits[:4] == "9790" {
			return 0, ruleISMN
		}
		want = mod10(digits[:12])
	default:
		return len(nss), ruleISBN
	}
	if uri.Upper(digits[len(digits)-1]) != want {
		return end, wants(ruleCheckDigit, "ISO 2108", string(want))
	}
	return 0, uri.Rule{}
}

// appendWithout appends a text without an octet to dst.
func appendWithout(dst []byte, text string, octet byte) []byte {
	for i := range len(text) {
		if text[i] != octet {
			dst = append(dst, text[i])
		}
	}
	return dst
}

// isbn13 returns the ISBN-13 of a book whose canonical ISBN has 10 or 13 digits.
// The two are different names of the same book: RFC 3187 has only the first.
func isbn13(nss string) string {
	if len(nss) != 10 {
		return nss
	}
	body := "978" + nss[:9]
	return body + string(mod10(body))
}

// otherISBN returns the other ISBN of a book: an ISBN-13 that begins with 979 has no
// ISBN-10.
func otherISBN(nss string) []string {
	switch {
	case len(nss) == 10:
		return []string{isbn13(nss)}
	case len(nss) == 13 && nss[:3] == "978":
		return []string{nss[3:12] + string(mod11(nss[3:12]))}
	default:
		return nil
	}
}

// mod11 returns the check character of ISBN-10 and ISSN: weights fall to 2.
func mod11(digits string) byte {
	sum := 0
	for i := range len(digits) {
		sum += (len(digits) + 1 - i) * int(digits[i]-'0')
	}
	return "0123456789X"[(11-sum%11)%11]
}

// mod10 returns the check digit of ISBN-13, and of all numbers of GS1: weights 3 and 1 in turn, from the right.
func mod10(digits string) byte {
	sum := 0
	for i := range len(digits) {
		sum += int(digits[i]-'0') * (1 + 2*((len(digits)-i)%2))
	}
	return "0123456789"[(10-sum%10)%10]
}

// The digits of numbers before their check digits.
const (
	DigitsISBN = 12
	DigitsISSN = 7
)

// CheckDigitISBN returns the check digit of the first 12 digits of an ISBN.
func CheckDigitISBN(digits string) byte { return mod10(digits) }

// CheckDigitGS1 returns the check digit of a number of GS1: General Specifications section 7.9.1.
func CheckDigitGS1(digits string) byte { return mod10(digits) }

// CheckDigitISSN returns the check digit of the first 7 digits of an ISSN, which may be X.
func CheckDigitISSN(digits string) byte { return mod11(digits) }
