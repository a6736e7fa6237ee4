package registry

import (
	"fmt"
	"regexp"

	"github.com/urnd/urnd/resolver"
)

// MaxPattern is how many octets the pattern of a prefix may have.
const MaxPattern = 1000

// CheckPattern returns an error for what cannot be the pattern of a prefix; "" is none.
func CheckPattern(pattern string) error {
	if len(pattern) > MaxPattern {
		return fmt.Errorf("the pattern has more than %d octets", MaxPattern)
	}
	if pattern == "" { // as that of all names
		return nil
	}
	_, err := compilePattern(pattern)
	return err
}

// compilePattern returns a pattern of all that follows a prefix, as the Bioregistry applies its own.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(pattern); err != nil { // in which a parenthesis could end the one around it
		return nil, fmt.Errorf("the pattern %q: %w", pattern, err)
	}
	whole, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, fmt.Errorf("the pattern %q: %w", pattern, err)
	}
	return whole, nil
}

// allows returns an error where a name, which is not registered itself, is none of the names below a prefix.
func (p *Entry) allows(name string) error {
	if p.Pattern == "" {
		return nil
	}
	pattern, err := compilePattern(p.Pattern)
	if err != nil {
		return err
	}
	if rest, ok := restAfter(p, name); !ok || pattern.MatchString(rest) {
		return nil
	}
	return &resolver.Negative{
		Kind: resolver.ErrNotFound, Reason: fmt.Sprintf("what follows %s is not of the form %s", p.Name, p.Pattern), Record: recordOf(p),
	}
}

// restAfter returns what follows a prefix in a name.
func restAfter(p *Entry, name string) (string, bool) {
	if len(name) < len(p.Name) || name[:len(p.Name)] != p.Name {
		return "", false
	}
	return name[len(p.Name):], true
}
