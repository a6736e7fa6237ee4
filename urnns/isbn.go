package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

var ruleISBN = uri.Rule{
	Code: "isbn", Name: "ISBN", Section: "RFC 3187 section 3.1",
	Requirement: "an ISBN has 10 or 13 digits, the last of 10 may be X, with or without hyphens",
}

var ruleISMN = uri.Rule{
	Code: "isbn_ismn", Name: "ISBN", Section: "ISO 10957",
	Requirement: "an ISBN does not begin with 979-0: that is an ISMN, of printed music",
}

var rulePrefix13 = uri.Rule{
	Code: "isbn_prefix", Name: "ISBN", Section: "ISO 2108",
	Requirement: "an ISBN of 13 digits begins with 978 or 979: other EANs are not for books",
}

// checkISBN checks an ISBN: RFC 3187, and the 13-digit form of the registration of 2017.
func checkISBN(nss string) (int, uri.Rule) {
	var buf [32]byte // large enough for a valid NSS, to avoid an allocation
	digits := string(appendWithout(buf[:0], nss, '-'))
	end := len(strings.TrimRight(nss, "-")) - 1 // offset of the check digit
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

// appendWithout appends text to dst, leaving out a byte.
func appendWithout(dst []byte, text string, char byte) []byte {
	for i := range len(text) {
		if text[i] != char {
			dst = append(dst, text[i])
		}
	}
	return dst
}

// isbn13 returns the ISBN-13 of a canonical ISBN with 10 or 13 digits. The two are different names of the same
// book: RFC 3187 has only the former.
func isbn13(nss string) string {
	if len(nss) != 10 {
		return nss
	}
	body := "978" + nss[:9]
	return body + string(mod10(body))
}

// otherISBN returns the other ISBN of a book. An ISBN-13 that starts with 979 has no ISBN-10.
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

// mod11 returns the check character of ISBN-10 and ISSN: the weights fall to 2.
func mod11(digits string) byte {
	sum := 0
	for i := range len(digits) {
		sum += (len(digits) + 1 - i) * int(digits[i]-'0')
	}
	return "0123456789X"[(11-sum%11)%11]
}

// mod10 returns the check digit of ISBN-13, and of all GS1 numbers: weights 3 and 1 alternate, from the right.
func mod10(digits string) byte {
	sum := 0
	for i := range len(digits) {
		sum += int(digits[i]-'0') * (1 + 2*((len(digits)-i)%2))
	}
	return "0123456789"[(10-sum%10)%10]
}

// The number of digits before the check digit.
const (
	DigitsISBN = 12
	DigitsISSN = 7
)

// CheckDigitISBN returns the check digit of an ISBN from its first 12 digits.
func CheckDigitISBN(digits string) byte { return mod10(digits) }

// CheckDigitGS1 returns the check digit of a GS1 number from the digits before it: General Specifications
// section 7.9.1.
func CheckDigitGS1(digits string) byte { return mod10(digits) }

// CheckDigitISSN returns the check digit of an ISSN from its first 7 digits; it may be X.
func CheckDigitISSN(digits string) byte { return mod11(digits) }
