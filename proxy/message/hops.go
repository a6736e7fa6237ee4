package message

import (
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Hops returns how many urnds have asked each other for the name of a request, at most
// resolver.MaxHops. The error is a *uri.ParseError for a field that no urnd sends.
func Hops(request httpmessage.Lines) (uint8, error) {
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

var ruleHops = uri.Rule{Code: "hops", Name: "Urnd-Hops", Section: "urnd's THTTP", Says: "the hop count is a number of at most three digits"}
