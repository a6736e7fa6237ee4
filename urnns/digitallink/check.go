package digitallink

import (
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// set82 are the characters of set 82 in the order of their values: GS1 General Specifications figure 7.9.5-1.
const set82 = `!"%&'()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz`

func indexOf82(c byte) int { return strings.IndexByte(set82, c) }

// check returns the rule that a value breaks, with the offset, or a rule without a name.
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
		_, most := f.length()
		return at, f.rule(ruleTooLong, strconv.Itoa(most))
	}
	return 0, uri.Rule{}
}

func (f Field) checkPart(part Part, text string) (int, uri.Rule) {
	for i := range len(text) {
		switch {
		case !part.Set.has(text[i]):
			return i, f.rule(ruleCharacter, strconv.Quote(text[i:i+1]))
		case i < part.Digits && !Numeric.has(text[i]):
			return i, f.rule(rulePrefixDigits, strconv.Itoa(part.Digits))
		}
	}
	switch {
	case len(text) < part.Min:
		least, _ := f.length()
		return len(text), f.rule(ruleTooShort, strconv.Itoa(least))
	case !strings.HasPrefix(text, part.Prefix):
		return 0, f.rule(ruleBegins, part.Prefix)
	case part.Check == CheckDigit:
		if want := urnns.CheckDigitGS1(text[:len(text)-1]); text[len(text)-1] != want {
			return len(text) - 1, f.rule(ruleCheckDigit, string(want))
		}
	case part.Check == CheckPair:
		if want := checkPair(text[:len(text)-2]); text[len(text)-2:] != want {
			return len(text) - 2, f.rule(ruleCheckPair, want)
		}
	case part.Check == NoZeroes && len(text) > 1 && text[0] == '0':
		return 0, f.rule(ruleZero, "")
	}
	return 0, uri.Rule{}
}

// length returns the least and the greatest length of values.
func (f Field) length() (least, most int) {
	for _, part := range f.Value {
		least, most = least+part.Min, most+part.Max
	}
	return least, most
}

// The sections of the General Specifications on values and on check digits.
const (
	sectionValues = "GS1 General Specifications section 3"
	sectionDigits = "GS1 General Specifications section 7.9"
)

// The rules of values. Their name is set to the label of the field.
var (
	ruleTooLong = uri.Rule{
		Code: "link_value_long", Section: sectionValues,
		Requirement: "the value has more than {{.Value}} characters",
	}
	ruleTooShort = uri.Rule{
		Code: "link_value_short", Section: sectionValues,
		Requirement: "the value has fewer than {{.Value}} characters",
	}
	ruleCharacter = uri.Rule{
		Code: "link_character", Section: sectionValues,
		Requirement: "the character {{.Value}} is not allowed there",
	}
	rulePrefixDigits = uri.Rule{
		Code: "link_prefix_digits", Section: sectionValues,
		Requirement: "the first {{.Value}} characters, of the company prefix, are digits",
	}
	ruleBegins = uri.Rule{
		Code: "link_begins", Section: sectionValues,
		Requirement: "the value begins with {{.Value}}",
	}
	ruleZero = uri.Rule{
		Code: "link_zero", Section: sectionValues,
		Requirement: "the number does not begin with 0",
	}
	ruleCheckDigit = uri.Rule{
		Code: "link_check_digit", Section: sectionDigits,
		Requirement: "the check digit should be {{.Value}}",
	}
	ruleCheckPair = uri.Rule{
		Code: "link_check_characters", Section: sectionDigits,
		Requirement: "the check characters should be {{.Value}}",
	}
	ruleDots = uri.Rule{
		Code: "link_dots", Section: "RFC 3986 section 5.2.4",
		Requirement: `a value is neither "." nor "..", which a path cannot have`,
	}
)

// rule returns a rule with the label of the field as its name, and with a value, which may be "".
func (f Field) rule(rule uri.Rule, value string) uri.Rule {
	rule.Name = f.label()
	return rule.With(value)
}

// label returns the name of a field for people.
func (f Field) label() string { return f.Name + " (" + f.Code + ")" }

// checkPair returns the pair of check characters of a text: prime numbers as weights, from the right, modulo
// 1021.
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
