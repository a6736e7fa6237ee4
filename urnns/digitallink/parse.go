package digitallink

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// MaxPath limits the path and the query of an identifier, in bytes each: the longest value has 90 characters.
const MaxPath = 2048

// Parse parses an identifier: a raw path below the root of the scheme, such as "/01/09506000134352/10/ABC", and
// a raw query, which may have data attributes. A final slash is ignored. The error is a *uri.ParseError, of the
// path or of the query.
func (s *Scheme) Parse(path, query string) (Link, error) {
	l := Link{scheme: s}
	segments, err := split(path)
	if err != nil {
		return l, err
	}
	if len(segments) == 0 || len(segments)%2 != 0 {
		return l, s.fails(path, len(path), rulePath)
	}
	first := segments[0]
	if l.key = s.key(first.text); l.key == nil {
		return l, s.fails(path, first.at, ruleKey.With(strings.Join(s.Codes(), ", ")))
	}
	if l.value, err = l.key.value(path, segments[1]); err != nil {
		return l, err
	}
	if err = l.addQualifiers(path, segments[2:]); err != nil {
		return l, err
	}
	return l, l.checkQuery(query)
}

// addQualifiers adds the qualifiers after the key. They must belong to one chain, in its order.
func (l *Link) addQualifiers(path string, segments []segment) error {
	chain, next := -1, 0
	for i := 0; i < len(segments); i += 2 {
		code := segments[i]
		of, at := l.key.qualifier(code.text)
		switch {
		case of < 0:
			return l.scheme.fails(path, code.at, ruleNoQualifier.With(l.key.label()))
		case chain >= 0 && of != chain:
			return l.scheme.fails(path, code.at, ruleOtherChain)
		case at < next:
			return l.scheme.fails(path, code.at, ruleOrder.With(l.key.order(of)))
		}
		chain, next = of, at+1
		value, err := l.key.Chains[of][at].value(path, segments[i+1])
		if err != nil {
			return err
		}
		l.qualifiers = append(l.qualifiers, Element{code.text, value})
	}
	if required := l.key.Required; required != "" &&
		!slices.ContainsFunc(l.qualifiers, func(e Element) bool { return e.Code == required }) {
		return l.scheme.fails(path, len(path), ruleRequired.With(required))
	}
	return nil
}

// qualifier returns the chain of a qualifier, and its index in it; -1 for none.
func (k *Key) qualifier(code string) (chain, at int) {
	for chain, fields := range k.Chains {
		if at := slices.IndexFunc(fields, func(f Field) bool { return f.Code == code }); at >= 0 {
			return chain, at
		}
	}
	return -1, -1
}

// order returns the codes of a chain.
func (k *Key) order(chain int) string {
	codes := make([]string, 0, len(k.Chains[chain]))
	for _, field := range k.Chains[chain] {
		codes = append(codes, field.Code)
	}
	return strings.Join(codes, ", ")
}

// value returns the checked value in a segment, padded with zeros.
func (f Field) value(input string, of segment) (string, error) {
	text := of.text
	padded := 0
	if slices.Contains(f.Short, len(text)) {
		padded = f.Pad - len(text)
		text = strings.Repeat("0", padded) + text
	}
	at, rule := f.check(text)
	if rule.Name == "" && (text == "." || text == "..") {
		at, rule = 0, f.rule(ruleDots, "")
	}
	if rule.Name == "" {
		return text, nil
	}
	return "", &uri.ParseError{Input: input, Offset: of.offset(max(at-padded, 0)), Rule: rule}
}

// The rules of paths and queries. Their section is set to the name of the scheme.
var (
	rulePath = uri.Rule{
		Code: "link_path", Name: "path",
		Requirement: "codes and values alternate in the path: /CODE/VALUE, then /CODE/VALUE of each qualifier",
	}
	ruleKey = uri.Rule{
		Code: "link_key", Name: "primary key",
		Requirement: "the path begins with the code of a primary key: {{.Value}}",
	}
	ruleNoQualifier = uri.Rule{
		Code: "link_no_qualifier", Name: "qualifier",
		Requirement: "this is no qualifier of {{.Value}}; data attributes are in the query",
	}
	ruleOtherChain = uri.Rule{
		Code: "link_other_chain", Name: "qualifier",
		Requirement: "this qualifier does not go with those before",
	}
	ruleOrder = uri.Rule{
		Code: "link_order", Name: "qualifier",
		Requirement: "qualifiers are in the order {{.Value}}",
	}
	ruleRequired = uri.Rule{
		Code: "link_required", Name: "qualifier",
		Requirement: "the primary key needs the qualifier {{.Value}}",
	}
	ruleInPath = uri.Rule{
		Code: "link_in_path", Name: "data attribute",
		Requirement: "the primary key and its qualifiers are in the path",
	}
	ruleRoot  = uri.Rule{Code: "link_root", Name: "root", Requirement: "identifiers are below {{.Value}}"}
	ruleQuery = uri.Rule{
		Code: "link_query", Name: "query",
		Requirement: `a dot is followed by a code, an equals sign and a value, in which "/" is %2F`,
	}
)

func (s *Scheme) fails(input string, offset int, rule uri.Rule) error {
	rule.Section = s.Name
	return &uri.ParseError{Input: input, Offset: offset, Rule: rule}
}

// segment is a part of a path or query between separators, also percent-decoded once.
type segment struct {
	raw, text string
	at        int // offset of raw in the input
}

// offset returns the offset in the input of a byte of the decoded text.
func (s segment) offset(character int) int {
	at := 0
	for range character {
		if at < len(s.raw) && s.raw[at] == '%' {
			at += 2
		}
		at++
	}
	return s.at + min(at, len(s.raw))
}

// split returns the segments of a path, ignoring a final slash.
func split(path string) ([]segment, error) {
	if len(path) > MaxPath {
		return nil, &uri.ParseError{Input: path, Offset: MaxPath, Rule: uri.RuleLength}
	}
	var segments []segment
	rest := strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	at := len(path) - len(strings.TrimPrefix(path, "/"))
	for more := rest != ""; more; { // of two final slashes, one leaves an empty segment
		var raw, after string
		raw, after, more = strings.Cut(rest, "/")
		one, err := decoded(path, raw, at)
		if err != nil {
			return nil, err
		}
		segments = append(segments, one)
		at, rest = at+len(raw)+1, after
	}
	return segments, nil
}

// decoded decodes percent-encoding, once.
func decoded(input, raw string, at int) (segment, error) {
	text, err := url.PathUnescape(raw)
	var bad url.EscapeError
	if errors.As(err, &bad) {
		// The last occurrence: an escape cut off at the end may be a prefix of others.
		at += strings.LastIndex(raw, string(bad))
	}
	if err != nil {
		return segment{}, &uri.ParseError{Input: input, Offset: at, Rule: uri.RulePctEncoded}
	}
	return segment{raw: raw, text: text, at: at}, nil
}
