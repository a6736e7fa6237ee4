package digitallink

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// set82 are the characters of set 82 in the order of their values: GS1 General Specifications figure 7.9.5-1.
const set82 = `!"%&'()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz`

func indexOf82(c byte) int { return strings.IndexByte(set82, c) }

// check returns the offset in a value, and the rule, that it breaks; a rule without a name for none.
func (f Field) check(value string) (int, uri.Rule) {
	at := 0
	for _, part := range f.Value {
		end := min(at+part.Max, len(value))
		if broken, rule := f.checkPart(part, value[at:end]); rule.Name != "" {
			return at + broken, rule
		}
		at = end
	}
	if at < len(value) {
		return at, f.rule("the value is longer than " + f.length())
	}
	return 0, uri.Rule{}
}

func (f Field) checkPart(part Part, text string) (int, uri.Rule) {
	for i := range len(text) {
		switch {
		case !part.Set.has(text[i]):
			return i, f.rule(fmt.Sprintf("the character %q is not allowed there", text[i:i+1]))
		case i < part.Digits && !Numeric.has(text[i]):
			return i, f.rule(fmt.Sprintf("the first %d characters, of the company prefix, are digits", part.Digits))
		}
	}
	switch {
	case len(text) < part.Min:
		return len(text), f.rule("the value is shorter than " + f.length())
	case !strings.HasPrefix(text, part.Begins):
		return 0, f.rule("the value begins with " + part.Begins)
	case part.Check == CheckDigit:
		if want := urnns.CheckDigitGS1(text[:len(text)-1]); text[len(text)-1] != want {
			return len(text) - 1, f.checkRule(fmt.Sprintf("the check digit should be %c", want))
		}
	case part.Check == CheckPair:
		if want := checkPair(text[:len(text)-2]); text[len(text)-2:] != want {
			return len(text) - 2, f.checkRule("the check characters should be " + want)
		}
	case part.Check == NoZeroes && len(text) > 1 && text[0] == '0':
		return 0, f.rule("the number does not begin with 0")
	}
	return 0, uri.Rule{}
}

// length says how long values are.
func (f Field) length() string {
	least, most := 0, 0
	for _, part := range f.Value {
		least, most = least+part.Min, most+part.Max
	}
	if least == most {
		return fmt.Sprintf("%d characters", most)
	}
	return fmt.Sprintf("%d to %d characters", least, most)
}

func (f Field) rule(says string) uri.Rule {
	return uri.Rule{Name: f.Name + " (" + f.Code + ")", Section: "GS1 General Specifications section 3", Says: says}
}

func (f Field) checkRule(says string) uri.Rule {
	return uri.Rule{Name: f.Name + " (" + f.Code + ")", Section: "GS1 General Specifications section 7.9", Says: says}
}

// checkPair returns the pair for other characters: prime numbers as weights, from the right, modulo 1021.
func checkPair(text string) string {
	const alphabet, modulus = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ", 1021
	primes := [...]int{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83}
	sum := 0
	for i := range len(text) {
		sum += indexOf82(text[len(text)-1-i]) * primes[i]
	}
	sum %= modulus
	return string([]byte{alphabet[sum>>5], alphabet[sum&31]})
}
