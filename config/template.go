package config

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/urnd/urnd/uri"
)

// ofNames are the variables of templates for names; "c" is the value of that directive.
func ofNames() []string { return []string{"urn", "nid", "nss", "c"} }

// checkTemplate checks a URI template with its variables, to which the named groups of patterns
// belong.
func checkTemplate(f *Faults, path, template string, known []string, names ...string) {
	values := make([]uri.TemplateValue, len(known))
	for i, name := range known {
		values[i] = uri.TemplateValue{Name: name, Text: "1"}
	}
	parsed, err := uri.ParseTemplate(template)
	unknown := slices.DeleteFunc(parsed.Variables(), func(name string) bool { return slices.Contains(known, name) })
	switch {
	case template == "":
		f.Add(path, "is missing")
	case otherVariable.MatchString(template):
		f.Add(path, "%q: %s is not a variable of templates: write {name}, where (?P<name>...) is a group of the pattern, or %s",
			template, otherVariable.FindString(template), braced(known))
	case err != nil:
		f.Add(path, "%q: %v", template, err)
	case userinfo.MatchString(template):
		f.Add(path, "contains a user or a password, which all clients would see")
	case !literalScheme.MatchString(template):
		f.Add(path, "%q does not begin with a scheme such as https:", template)
	case len(unknown) > 0:
		there := strings.Join(known, ", ")
		if there == "" {
			there = "none: the groups of a pattern are, as in (?P<name>...)"
		}
		f.Add(path, "%q: there is no variable %q%s; there are %s", template, unknown[0], didYouMean(unknown[0], known), there)
	default:
		location := expression.ReplaceAllString(template, "1")
		if strings.ContainsFunc(location, func(c rune) bool { return c > unicode.MaxASCII }) {
			location = parsed.Expand(values) // with what is encoded: a blank is probably a mistake
		}
		checkLocation(f, path, template, location, names)
	}
}

// checkLocation checks what a template gives, where each variable is "1".
func checkLocation(f *Faults, path, template, location string, names []string) {
	u, err := uri.Parse(location)
	var parse *uri.ParseError
	scheme := strings.ToLower(u.Scheme())
	switch {
	case errors.As(err, &parse):
		f.Add(path, "%q gives no URI: in %q, %s (octet %d)", template, location, parse.Rule.Says, parse.Offset)
	case scheme != "http" && scheme != "https" && scheme != "urn" && !slices.Contains(schemes(), scheme) && !slices.Contains(names, scheme):
		f.Add(path, "%q: clients are not redirected to the scheme %q", template, scheme)
	}
}

// braced lists variables as templates write them.
func braced(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = "{" + name + "}"
	}
	return strings.Join(all, ", ")
}

// otherVariable matches what other programs take for a variable.
var otherVariable = regexp.MustCompile(`\$(?:\d|\{\w+\})|%[sd]|%\(\w+\)s|\\\d|<\w+>`)

var expression = regexp.MustCompile(`\{[^{}]*\}`)

// hasVariables reports whether a template depends on something.
func hasVariables(template string) bool { return strings.Contains(template, "{") }

// groupsOf returns the named groups of a pattern.
func groupsOf(pattern string) []string {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil // reported elsewhere
	}
	return slices.DeleteFunc(re.SubexpNames(), func(name string) bool { return name == "" })
}
