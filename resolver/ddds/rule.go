package ddds

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// match is the result of applying a record to an application unique string.
type match struct {
	record   NAPTR
	flag     byte // 'S', 'A', 'U', 'P', or 0 for a non-terminal rule
	services services
	key      string // a domain name with a final dot, or, for 'U', a URI
	matched  string // part that the expression matched; "" without an expression
	failure  error  // why the result is not a usable key, although the rule matched; or nil
}

var (
	errBothFields = errors.New("REGEXP and REPLACEMENT are both used (RFC 3403 section 4.1)")
	errNoFields   = errors.New("neither REGEXP nor REPLACEMENT is used (RFC 3403 section 4.1)")
	errEmpty      = errors.New("the result is empty (RFC 3402 section 3.3)")
	errName       = errors.New("key is not a domain name")
)

// apply applies the rule of r to aus, the original string and never the output of an earlier rule (RFC 3402
// section 3). Every error except errNoMatch and errWork means that the record is malformed. An unusable result
// is a match with its failure set: the first match locks the order, whether it is usable or not.
func (r NAPTR) apply(aus string, flag byte, work *budget) (match, error) {
	m := match{record: r, flag: flag}
	var err error
	if m.services, err = parseServices(r.Services); err != nil {
		return match{}, err
	}
	switch {
	case r.Regexp != "" && r.hasReplacement():
		return match{}, errBothFields
	case r.Regexp != "":
		s, err := work.expressions.parse(r.Regexp)
		if err != nil {
			return match{}, err
		}
		m.key, m.matched, err = s.apply(aus, work)
		switch {
		case errors.Is(err, errLong):
			m.failure = err
			return m, nil
		case err != nil:
			return match{}, err
		}
	case r.hasReplacement():
		m.key = r.Replacement
	default:
		return match{}, errNoFields
	}
	if m.key == "" {
		return match{}, errEmpty
	}
	m.key, m.failure = legalKey(m.key, flag)
	return m, nil
}

// legalKey returns a result as a key, or an error if it cannot be one (RFC 3402 section 3.2).
func legalKey(result string, flag byte) (string, error) {
	if flag != 'U' {
		return domainName(result)
	}
	if err := resolver.CheckLocation(result); err != nil {
		return "", fmt.Errorf("result is not a valid location: %w", err)
	}
	return result, nil
}

// domainName returns s as a domain name with a final dot and lower-case letters. Underscores are allowed, as in
// SRV names. The last label must not be a number (RFC 1123 section 2.1), since "192.0.2.1" is not a name.
func domainName(s string) (string, error) {
	name := strings.TrimSuffix(s, ".")
	top := name[strings.LastIndexByte(name, '.')+1:]
	if len(name) > 253 || strings.Trim(top, "0123456789") == "" {
		return "", fmt.Errorf("%w: %q", errName, s)
	}
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return "", fmt.Errorf("%w: %q", errName, s)
		}
	}
	return uri.CanonicalDomain(name), nil
}

func isLabel(s string) bool {
	for _, c := range []byte(s) {
		lower := uri.Lower(c)
		letter := 'a' <= lower && lower <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-'
}
