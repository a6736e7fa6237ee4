package registry

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// LongestPrefix returns the entry of the longest registered prefix of a canonical name, the zero value if there
// is none. That prefix resolves the name if the name itself is not registered. floor is Store.Floor; it is
// called at most once more than the name has delimiters.
func LongestPrefix(floor func(text string) (Entry, error), name string) (Entry, error) {
	for text := name; text != ""; {
		e, err := floor(text)
		if err != nil || !e.Exists() {
			return Entry{}, err
		}
		if strings.HasPrefix(name, e.Name) {
			return e, nil
		}
		// A registered prefix of the name that is less than e must also be a prefix of the common beginning of
		// e and text.
		n := 0
		for n < min(len(e.Name), len(text)) && e.Name[n] == text[n] {
			n++
		}
		text = text[:lastDelimiter(text[:n])]
	}
	return Entry{}, nil
}

// lastDelimiter returns the length of the longest beginning of text at which a prefix may end.
func lastDelimiter(text string) int {
	for i := len(text); i > 0; i-- {
		if IsDelimiter(text[i-1]) {
			return i
		}
	}
	return 0
}

// EnclosingPrefix returns the longest beginning of name, other than name itself, that a prefix may be.
func EnclosingPrefix(name string) string {
	if name == "" {
		return ""
	}
	return name[:lastDelimiter(name[:len(name)-1])]
}

// Defers reports whether a prefix only sets properties of the names below it, such as the sandbox, and leaves their
// locations to the next shorter prefix.
func (e *Entry) Defers() bool {
	return e.Status == Active && len(e.Targets) == 0 && !e.Authoritative
}

// MaxPattern is the maximum length of the pattern of a prefix, in bytes.
const MaxPattern = 1000

// CheckPattern returns an error for an invalid pattern of a prefix; "" is no pattern.
func CheckPattern(pattern string) error {
	if len(pattern) > MaxPattern {
		return Invalid("text_long", "pattern", "pattern longer than %d bytes", MaxPattern).With("Most",
			strconv.Itoa(MaxPattern))
	}
	if pattern == "" { // all names have the empty pattern
		return nil
	}
	if _, err := compilePattern(pattern); err != nil {
		return Invalid("pattern_malformed", "pattern", "%w", err)
	}
	return nil
}

// compilePattern compiles a pattern anchored at both ends: it must match the whole rest of a name, as the
// Bioregistry applies its patterns.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(pattern); err != nil { // unwrapped first: a stray ")" could close the group added below
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	whole, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return whole, nil
}

// MatchesPattern reports whether the rest of a name behind the prefix matches the pattern of the prefix; an
// empty pattern matches any rest.
func (e *Entry) MatchesPattern(name string) (bool, error) {
	if e.Pattern == "" {
		return true, nil
	}
	pattern, err := compilePattern(e.Pattern)
	if err != nil {
		return false, err
	}
	rest, ok := strings.CutPrefix(name, e.Name)
	return !ok || pattern.MatchString(rest), nil
}

// ErrEscapesTarget is the error for a name whose location would escape the path or the server of the prefix's target.
var ErrEscapesTarget = errors.New("the part after the prefix changes the path or the server of the target")

// ValidAt reports whether a target is valid at a time.
func (t Target) ValidAt(at time.Time) bool {
	return !t.From.After(at) && (t.Until.IsZero() || at.Before(t.Until))
}

// Location returns the location of a canonical name by a target of a key. The name equals the name of the key,
// or begins with it.
func (t Target) Location(of Key, name string) (string, error) {
	if of.Kind == KindName {
		return t.URI, nil
	}
	return expand(t.URI, of.Name, name)
}

// expand returns the location of a name by the target of a prefix. It returns ErrEscapesTarget if the rest of the name
// escapes the server or the path of the target.
func expand(target, prefix, name string) (string, error) {
	location, err := substitute(target, prefix, name)
	if err != nil {
		return "", err
	}
	fixed, _, isTemplate := strings.Cut(target, "{")
	if literal, err := uri.ParseTemplate(fixed); isTemplate && err == nil {
		fixed = literal.Expand(nil) // in its form within the location
	}
	if _, rest, ok := strings.Cut(fixed, "://"); isTemplate && (!ok || !strings.ContainsAny(rest, "/?#")) {
		// The rest of the name may be part of the authority. The server must not depend on it.
		if !hasServer(target, prefix) || !sameServer(location, target, prefix) {
			return "", ErrEscapesTarget
		}
		fixed = location[:len(location)-len(pathOf(location))]
	}
	last := min(strings.LastIndexByte(fixed, '/')+1, len(location))
	if strings.Contains(fixed, "://") && !strings.ContainsAny(fixed, "?#") && escapesTarget(location[last:]) {
		return "", ErrEscapesTarget
	}
	return location, nil
}

// pathOf returns the part of a URI behind the slash that follows the authority.
func pathOf(location string) string {
	_, rest, _ := strings.Cut(location, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && rest[i] == '/' {
		return rest[i+1:]
	}
	return ""
}

// escapesTarget reports whether a path escapes its base directory as servers may interpret it: by dot segments (also
// encoded, or with parameters), by empty segments, or by backslashes.
func escapesTarget(path string) bool {
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	path = strings.ToLower(path)
	if strings.HasPrefix(path, "/") || strings.Contains(path, "//") || strings.Contains(path, `\`) ||
		strings.Contains(path, "%5c") {
		return true
	}
	path = strings.ReplaceAll(strings.ReplaceAll(path, "%2e", "."), "%2f", "/")
	for segment := range strings.SplitSeq(path, "/") {
		if segment, _, _ = strings.Cut(segment, ";"); segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// substitute returns the location of a name by the target of a prefix, without checking where it leads.
func substitute(target, prefix, name string) (string, error) {
	suffix := name[len(prefix):]
	if !strings.Contains(target, "{") {
		return target + suffix, nil
	}
	template, err := uri.ParseTemplate(target)
	if err != nil {
		return "", fmt.Errorf("expanding the template: %w", err)
	}
	values := []uri.TemplateValue{{Name: "suffix", Text: suffix}, {Name: "name", Text: name}}
	if nid, nss, ok := strings.Cut(strings.TrimPrefix(name, "urn:"), ":"); ok && strings.HasPrefix(name, "urn:") {
		values = append(values, uri.TemplateValue{Name: "nid", Text: nid}, uri.TemplateValue{Name: "nss", Text: nss})
	}
	return template.Expand(values), nil
}

// hasServer reports whether the server of a prefix's target is independent of the rest of the name.
func hasServer(target, prefix string) bool {
	location, err := substitute(target, prefix, prefix+"1")
	return err == nil && sameServer(location, target, prefix)
}

// sameServer reports whether a location has the scheme and server that the target of a prefix yields for a name
// that ends with "0".
func sameServer(location, target, prefix string) bool {
	other, err := substitute(target, prefix, prefix+"0")
	a, failureA := uri.Parse(location)
	b, failureB := uri.Parse(other)
	if errors.Join(err, failureA, failureB) != nil {
		return false
	}
	return uri.SameServer(a, b)
}
