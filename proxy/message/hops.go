package message

import (
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Hops returns the hop count in the field Urnd-Hops: the number of urnds that have forwarded the query for a
// name to each other, at most resolver.MaxHops. The error is a *uri.ParseError for a malformed field.
func Hops(request httpmessage.Header) (uint8, error) {
	lines := request(resolver.HopsField)
	if len(lines) == 0 {
		return 0, nil
	}
	text := strings.Join(lines, ", ")
	if text == "" || len(text) > 3 || strings.Trim(text, "0123456789") != "" {
		return 0, &uri.ParseError{Input: text, Rule: ruleHops}
	}
	n := 0
	for _, digit := range []byte(text) {
		n = 10*n + int(digit-'0')
	}
	return uint8(min(n, resolver.MaxHops)), nil
}

var ruleHops = uri.Rule{
	Code: "hops", Name: "Urnd-Hops", Section: "urnd's THTTP",
	Requirement: "the hop count is a number of at most three digits",
}
