package ddds

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// substitution is a parsed substitution expression of RFC 3402 section 3.2: delim-char ere delim-char repl
// delim-char *flags. It is safe for concurrent use.
type substitution struct {
	ere  *ere
	repl string // with its back-references
}

// maxExpression is the maximum length of a character-string in the DNS, in bytes.
const maxExpression = 255

func parseSubstitution(expression string) (*substitution, error) {
	if expression == "" || len(expression) > maxExpression {
		return nil, fmt.Errorf("substitution expression has %d bytes, not 1 to %d", len(expression), maxExpression)
	}
	delim := expression[0]
	if delim == '\\' || delim == 'i' || '1' <= delim && delim <= '9' {
		return nil, fmt.Errorf("substitution expression has the forbidden delimiter %q (RFC 3402 section 3.2)", delim)
	}
	fields := splitUnescaped(expression[1:], delim)
	if len(fields) != 3 {
		return nil, fmt.Errorf("substitution expression has %d delimiters, not 3 (RFC 3402 section 3.2)", len(fields))
	}
	flags := syntax.POSIX
	if fields[2] != "" {
		flags |= syntax.FoldCase
	}
	if strings.Trim(fields[2], "i") != "" {
		return nil, fmt.Errorf("substitution expression has unknown flags %q", fields[2])
	}
	parsed, err := parseERE(unescapeDelim(fields[0], delim), flags)
	if err != nil {
		return nil, err
	}
	s := &substitution{ere: parsed, repl: unescapeDelim(fields[1], delim)}
	if err := s.checkReferences(); err != nil {
		return nil, err
	}
	return s, nil
}

// splitUnescaped splits s at unescaped delimiters. A backslash escapes the next byte, so the delimiter in `\\!`
// is not escaped.
func splitUnescaped(s string, delim byte) []string {
	var fields []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case delim:
			fields = append(fields, s[start:i])
			start = i + 1
		}
	}
	return append(fields, s[start:])
}

// unescapeDelim removes the backslash before delimiters, and before no other byte.
func unescapeDelim(s string, delim byte) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] != delim {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

var (
	errNoMatch = errors.New("expression does not match")
	errLong    = fmt.Errorf("result exceeds %d bytes", resolver.MaxLocation)
)

// checkReferences returns an error unless every back-reference has its group (RFC 3402 section 3.2).
func (s *substitution) checkReferences() error {
	for i := 0; i < len(s.repl); i++ {
		if s.repl[i] != '\\' {
			continue
		}
		i++
		if i == len(s.repl) {
			return errors.New("replacement ends in a backslash")
		}
		if d := s.repl[i]; '1' <= d && d <= '9' && int(d-'0') > s.ere.parsed.MaxCap() {
			return fmt.Errorf(`replacement has \%c, but the expression has %d groups (RFC 3402 section 3.2)`, d,
				s.ere.parsed.MaxCap())
		}
	}
	return nil
}

// apply returns the replacement for aus without the text around the match (RFC 3404 section 5.3 extracts a host
// that way), and the match. If the result exceeds resolver.MaxLocation bytes, the error is errLong.
func (s *substitution) apply(aus string, work *budget) (result, matched string, err error) {
	if err := work.take(s.ere.size, len(aus)); err != nil {
		return "", "", err
	}
	re, err := s.ere.compile()
	if err != nil {
		return "", "", err
	}
	groups := re.FindStringSubmatch(aus)
	if groups == nil {
		return "", "", errNoMatch
	}
	var b strings.Builder
	for i := 0; i < len(s.repl); i++ {
		if b.Len() > resolver.MaxLocation {
			return "", "", errLong
		}
		c := s.repl[i]
		if c == '\\' { // a byte follows: see checkReferences
			i++
			if d := s.repl[i]; '1' <= d && d <= '9' {
				b.WriteString(groups[d-'0'])
				continue
			}
			b.WriteByte(c) // the backslash is data, and makes the key illegal: only a digit is a back-reference
			c = s.repl[i]
		}
		b.WriteByte(c)
	}
	if b.Len() > resolver.MaxLocation {
		return "", "", errLong
	}
	return b.String(), groups[0], nil
}
