package digitallink

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// checkQuery checks the data attributes in a query: those that the scheme knows. Others, and what is no code, are for whom the link leads to.
func (l *Link) checkQuery(query string) error {
	if len(query) > MaxPath {
		return &uri.ParseError{Input: query, Offset: MaxPath, Rule: uri.RuleLength}
	}
	at := 0
	for _, raw := range strings.FieldsFunc(query, isSeparator) {
		start := at + strings.Index(query[at:], raw)
		code, value, _ := strings.Cut(raw, "=")
		one, err := decoded(query, value, min(start+len(code)+1, len(query)))
		if err != nil {
			return err
		}
		if _, at := l.key.qualifier(code); code == l.key.Code || at >= 0 {
			return l.scheme.fails(query, start, ruleInPath)
		}
		if known := l.scheme.attribute(code); known != nil {
			if _, err := known.value(query, one); err != nil {
				return err
			}
		}
		at = start + len(raw)
	}
	return nil
}

// attribute returns the data attribute of a code, nil where the scheme does not know it. Primary keys may be attributes of others.
func (s *Scheme) attribute(code string) *Field {
	for i := range s.Attributes {
		if s.Attributes[i].Code == code {
			return &s.Attributes[i]
		}
	}
	if key := s.key(code); key != nil {
		return &key.Field
	}
	return nil
}

// isSeparator reports whether a character separates the pairs of a query: GS1 Digital Link URI Syntax section 4.11.
func isSeparator(r rune) bool { return r == '&' || r == ';' }
