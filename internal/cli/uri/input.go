package uri

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// parseURI parses an absolute URI that is well formed by the rules of its scheme.
func parseURI(input string) (uri.URI, error) {
	u, err := uri.Parse(input)
	if err != nil {
		return uri.URI{}, err
	}
	return u, u.Check()
}

// cutPair splits an input that holds two URIs.
func cutPair(input string) (a, b string, err error) {
	a, b, ok := strings.Cut(input, "\t")
	if !ok {
		rule := uri.Rule{Name: "pair", Section: "urnd uri --help", Says: "two URIs are separated by a tab"}
		return "", "", &uri.ParseError{Input: input, Offset: len(input), Rule: rule}
	}
	return a, b, nil
}
