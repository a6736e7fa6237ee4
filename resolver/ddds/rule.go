package ddds

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// match is what a record makes of an application unique string.
type match struct {
	record   NAPTR
	flag     byte // 'S', 'A', 'U', 'P', or 0 for a non-terminal rule
	services services
	key      string // a domain name with a final dot, or, for 'U', a URI
}

var (
	errBothFields = errors.New("REGEXP and REPLACEMENT are both used (RFC 3403 section 4.1)")
	errNoFields   = errors.New("neither REGEXP nor REPLACEMENT is used (RFC 3403 section 4.1)")
	errName       = errors.New("the key is not a domain name")
)

// apply runs the rule of r on aus, the original string and never the output of
// an earlier rule (RFC 3402 section 3). errNoMatch is no fault of the record;
// every other error is.
func (r NAPTR) apply(aus string, flag byte) (match, error) {
	m := match{record: r, flag: flag}
	var err error
	if m.services, err = parseServices(r.Services); err != nil {
		return match{}, err
	}
	switch {
	case r.Regexp != "" && r.hasReplacement():
		return match{}, errBothFields
	case r.Regexp != "":
		s, err := parseSubstitution(r.Regexp)
		if err != nil {
			return match{}, err
		}
		if m.key, err = s.apply(aus); err != nil {
			return match{}, err
		}
	case r.hasReplacement():
		m.key = r.Replacement
	default:
		return match{}, errNoFields
	}
	if flag == 'U' {
		if err := resolver.CheckLocation(m.key); err != nil {
			return match{}, fmt.Errorf("the result is no location: %w", err)
		}
		return m, nil
	}
	m.key, err = domainName(m.key)
	return m, err
}

// domainName returns s as a name with a final dot and lower-case letters. An
// underscore may stand in it: SRV names have them.
func domainName(s string) (string, error) {
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if s == "" || len(s) > 253 {
		return "", fmt.Errorf("%w: %q", errName, s)
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "", fmt.Errorf("%w: %q", errName, s)
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return "", fmt.Errorf("%w: %q", errName, s)
			}
		}
	}
	return s + ".", nil
}
