package digitallink

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// checkQuery checks the data attributes in a query that the scheme knows. Other attributes and other parameters
// belong to the target of the link.
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

// attribute returns the data attribute of a code, or nil if the scheme does not know it. A primary key may be
// an attribute of another.
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

// isSeparator reports whether r separates the pairs of a query: GS1 Digital Link URI Syntax section 4.11.
func isSeparator(r rune) bool { return r == '&' || r == ';' }
