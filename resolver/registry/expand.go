package registry

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urnd/urnd/uri"
)

// errLeaves is the error for names that would lead to what the target of their prefix is not about.
var errLeaves = errors.New("what follows the prefix would leave the path or the server of its target")

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
			return "", errLeaves
		}
		fixed = location[:len(location)-len(pathOf(location))]
	}
	last := min(strings.LastIndexByte(fixed, '/')+1, len(location))
	if strings.Contains(fixed, "://") && !strings.ContainsAny(fixed, "?#") && leaves(location[last:]) {
		return "", errLeaves
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
