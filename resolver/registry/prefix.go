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

// LongestPrefix returns the entry of the longest prefix of a canonical name, the zero value if there is none: the one that resolves the
// name where it is not registered itself. floor is Floor of a store: it is called at most once for each delimiter of the name, and once.
func LongestPrefix(floor func(text string) (Entry, error), name string) (Entry, error) {
	for text := name; text != ""; {
		e, err := floor(text)
		if err != nil || !e.Exists() {
			return Entry{}, err
		}
		if strings.HasPrefix(name, e.Name) {
			return e, nil
		}
		// A prefix of the name that is not after e is also one of what both begin with.
		n := 0
		for n < min(len(e.Name), len(text)) && e.Name[n] == text[n] {
			n++
		}
		text = text[:lastDelimiter(text[:n])]
	}
	return Entry{}, nil
}

// lastDelimiter returns how long the longest beginning of text is that a prefix may be.
func lastDelimiter(text string) int {
	for i := len(text); i > 0; i-- {
		if IsDelimiter(text[i-1]) {
			return i
		}
	}
	return 0
}

// Enclosing returns the longest that a prefix of a key may be, other than its own name.
func Enclosing(name string) string {
	if name == "" {
		return ""
	}
	return name[:lastDelimiter(name[:len(name)-1])]
}

// MaxPattern is how many octets the pattern of a prefix may have.
const MaxPattern = 1000

// CheckPattern returns an error for what cannot be the pattern of a prefix; "" is none.
func CheckPattern(pattern string) error {
	if len(pattern) > MaxPattern {
		return Invalid("text_long", "pattern", "the pattern has more than %d octets", MaxPattern).With("Most", strconv.Itoa(MaxPattern))
	}
	if pattern == "" { // as that of all names
		return nil
	}
	if _, err := compilePattern(pattern); err != nil {
		return Invalid("pattern_malformed", "pattern", "%w", err)
	}
	return nil
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

// MatchesPattern reports whether what follows a prefix in a name is of the form of its pattern; any is where it has none.
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

// ErrLeaves is the error for names that would lead to what the target of their prefix is not about.
var ErrLeaves = errors.New("what follows the prefix would leave the path or the server of its target")

// ValidAt reports whether a target is valid at a time.
func (t Target) ValidAt(at time.Time) bool {
	return !t.From.After(at) && (t.Until.IsZero() || at.Before(t.Until))
}

// Location returns where a target of a key leads a canonical name, which is the name of the key or begins
// with it.
func (t Target) Location(of Key, name string) (string, error) {
	if of.Kind == KindName {
		return t.URI, nil
	}
	return expand(t.URI, of.Name, name)
}

// expand returns the location of a name by the target of a prefix. What the name adds leaves neither the server nor
// the path of the target.
func expand(target, prefix, name string) (string, error) {
	location, err := substitute(target, prefix, name)
	if err != nil {
		return "", err
	}
	fixed, _, isTemplate := strings.Cut(target, "{")
	if literal, err := uri.ParseTemplate(fixed); isTemplate && err == nil {
		fixed = literal.Expand(nil) // as it is in the location
	}
	if _, rest, ok := strings.Cut(fixed, "://"); isTemplate && (!ok || !strings.ContainsAny(rest, "/?#")) {
		// The name may be a part of the server, which is not to depend on it.
		if !hasServer(target, prefix) || !sameServer(location, target, prefix) {
			return "", ErrLeaves
		}
		fixed = location[:len(location)-len(pathOf(location))]
	}
	last := min(strings.LastIndexByte(fixed, '/')+1, len(location))
	if strings.Contains(fixed, "://") && !strings.ContainsAny(fixed, "?#") && leaves(location[last:]) {
		return "", ErrLeaves
	}
	return location, nil
}

// pathOf returns what follows the slash after the server of a URI.
func pathOf(location string) string {
	_, rest, _ := strings.Cut(location, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && rest[i] == '/' {
		return rest[i+1:]
	}
	return ""
}

// leaves reports whether a path leads out of where it begins, as servers may understand it: by dot segments, also
// encoded ones or with parameters, by empty segments, or by backslashes.
func leaves(path string) bool {
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	path = strings.ToLower(path)
	if strings.HasPrefix(path, "/") || strings.Contains(path, "//") || strings.Contains(path, `\`) || strings.Contains(path, "%5c") {
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

// substitute returns the location of a name by the target of a prefix, wherever that leads.
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

// hasServer reports whether the target of a prefix has a server of its own, whatever follows the prefix.
func hasServer(target, prefix string) bool {
	location, err := substitute(target, prefix, prefix+"1")
	return err == nil && sameServer(location, target, prefix)
}

// sameServer reports whether a location has the scheme and the server that the target of a prefix has for the name
// that ends with "0".
func sameServer(location, target, prefix string) bool {
	other, err := substitute(target, prefix, prefix+"0")
	a, faultA := uri.Parse(location)
	b, faultB := uri.Parse(other)
	if errors.Join(err, faultA, faultB) != nil {
		return false
	}
	return uri.SameServer(a, b)
}
