package mint

import (
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
)

// betanumeric are the extended digits of NOID: without vowels, so that no words occur, and without l, which
// resembles 1.
const betanumeric = "0123456789bcdfghjkmnpqrstvwxz"

// noidCheck returns the check character of a zone (NOID Check Digit Algorithm): the sum of position times
// value, modulo 29. Characters outside the alphabet have the value 0. In zones of less than 28 characters it
// detects each single wrong character and each transposition of two.
func noidCheck(zone string) byte {
	sum := 0
	for i := range len(zone) {
		if value := strings.IndexByte(betanumeric, zone[i]); value > 0 {
			sum += (i + 1) * value
		}
	}
	return betanumeric[sum%len(betanumeric)]
}

// noidZone returns the part of a name that the check character of NOID covers: the NAAN and name of an ARK,
// the NSS of a URN, or the path of another URI. The part before it is the same in all names.
func noidZone(name string) string {
	if _, ark, ok := strings.Cut(name, "ark:"); ok {
		return strings.TrimPrefix(ark, "/")
	}
	scheme, rest, _ := strings.Cut(name, ":")
	if strings.EqualFold(scheme, "urn") {
		_, nss, _ := strings.Cut(rest, ":")
		return nss
	}
	if local, ok := strings.CutPrefix(rest, "//"); ok {
		_, rest, _ = strings.Cut(local, "/")
	}
	return rest
}

// nbnValues are the values of characters for the check digit of URN:NBN:de, each after its character. They
// are from the Deutsche Nationalbibliothek, "Description of algorithm for calculation of URN check digit",
// http://www.persistent-identifier.de/english/316-check-digit-algorithm.php
const nbnValues = "" +
	"+49 -39 .47 /45 01 12 23 34 45 56 67 78 89 941 :17 " +
	"a18 b14 c19 d15 e16 f21 g22 h23 i24 j25 k42 l26 m27 n13 o28 p29 q31 r12 s32 t33 u11 v34 w35 x36 y37 z38 _43 "

// nbnValue returns the digits of a character, "" if it is not allowed.
func nbnValue(b byte) string {
	for row := range strings.FieldsSeq(nbnValues) {
		if row[0] == uri.Lower(b) {
			return row[1:]
		}
	}
	return ""
}

// nbnCheck returns the check digit of URN:NBN:de for a name without it. The digits of all characters are
// multiplied by their positions; the sum is divided by the last digit; the check digit is the last digit of
// the quotient.
func nbnCheck(name string) (byte, error) {
	sum, position, last := 0, 0, 1
	for i := range len(name) {
		value := nbnValue(name[i])
		if value == "" {
			return 0, registry.Invalid("mint_check_digit", "pattern", "check digit of URN:NBN:de undefined for %q",
				name[i])
		}
		for j := range len(value) {
			position++
			last = int(value[j] - '0')
			sum += position * last
		}
	}
	return "0123456789"[sum/last%10], nil
}
