package config

import (
	"regexp"
	"slices"
	"strings"

	stduritemplate "github.com/std-uritemplate/std-uritemplate/go/v2"
)

// variables are those that each template has; "c" is the value of that directive.
var variables = [...]string{"urn", "nid", "nss", "c"}

// checkTemplate checks a URI template; groups are the named groups of its patterns, which are
// variables too.
func checkTemplate(f *Faults, path, template string, groups []string) {
	_, err := stduritemplate.Expand(template, nil)
	known := append(variables[:], groups...)
	unknown := slices.DeleteFunc(variablesOf(template), func(name string) bool { return slices.Contains(known, name) })
	switch {
	case template == "":
		f.add(path, "is missing")
	case otherVariable.MatchString(template):
		f.add(path, "%q: %s is not a variable of templates: write {nss}, or {name} for a group (?P<name>...) of the pattern", template, otherVariable.FindString(template))
	case err != nil:
		f.add(path, "%q: %v", template, err)
	case userinfo.MatchString(template):
		f.add(path, "contains a user or a password, which all clients would see")
	case !literalScheme.MatchString(template):
		f.add(path, "%q does not begin with a scheme such as https:", template)
	case len(unknown) > 0:
		f.add(path, "%q: there is no variable %q%s; there are %s", template, unknown[0], didYouMean(unknown[0], known), strings.Join(known, ", "))
	}
}

// otherVariable matches what other programs take for a variable.
var otherVariable = regexp.MustCompile(`\$(?:\d|\{\w+\})|%[sd]`)

// expression matches an expression of a template without its operator: RFC 6570 section 2.2.
var expression = regexp.MustCompile(`\{[+#./;?&=,!@|]?([^{}]*)\}`)

// variablesOf returns the names of the variables in a template.
func variablesOf(template string) []string {
	var names []string
	for _, found := range expression.FindAllStringSubmatch(template, -1) {
		for name := range strings.SplitSeq(found[1], ",") {
			name, _, _ = strings.Cut(name, ":") // the prefix modifier, section 2.4.1
			if name = strings.TrimSuffix(name, "*"); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// groupsOf returns the named groups of a pattern.
func groupsOf(pattern string) []string {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil // reported elsewhere
	}
	return slices.DeleteFunc(re.SubexpNames(), func(name string) bool { return name == "" })
}
