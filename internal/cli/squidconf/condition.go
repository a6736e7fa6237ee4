package squidconf

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// condition is the meaning of an acl, possibly negated. It matches a request that matches one of cubes and
// none of except. If missing is not empty, the acl may match other requests too; a negated one then has no
// cubes.
type condition struct {
	cubes   []cube
	except  []cube
	missing []Unconverted
	login   bool // it depends on users or on a login
}

// addUnconverted records a part of an acl that rules cannot express.
func (c *condition) addUnconverted(a *ACL, at Position, why, instead string) {
	c.missing = append(c.missing, Unconverted{at, "acl " + a.Name, why, instead})
}

// maxNesting bounds the depth of nested acls (any-of, all-of), and maxNested the nested acls of a
// configuration.
const (
	maxNesting = 16
	maxNested  = 20_000
)

// literal returns the meaning of a word such as !Safe_ports.
func (c *conversion) literal(word string, at Position, depth int) (means condition) {
	name, isNegated := strings.CutPrefix(word, "!")
	a := c.acls.Named(name)
	if a == nil {
		means.missing = []Unconverted{{at, "acl " + name, "no acl has this name", "an acl defined before it"}}
		return means
	}
	means = c.conditionOf(a, depth)
	if !isNegated {
		return means
	}
	positive := slices.DeleteFunc(means.cubes, cube.empty)
	means.cubes = nil
	switch {
	case len(means.missing) > 0 || slices.ContainsFunc(positive, cube.always):
		return means
	case len(positive) == 1:
		if others, ok := positive[0].not(); ok {
			means.cubes = []cube{others}
			return means
		}
	}
	means.cubes, means.except = []cube{{}}, positive
	return means
}

// conditionOf returns the meaning of an acl.
func (c *conversion) conditionOf(a *ACL, depth int) (means condition) {
	if a.Unread != nil {
		means.addUnconverted(a, a.Position, a.Unread.Error(), "run the command where the file is")
	}
	for _, list := range a.Empty {
		c.addUnconverted(Directive{Position: a.Position, Name: "acl " + a.Name},
			"the file "+list+" is empty, and is not loaded if it is not", "# none in the file, before the import")
	}
	switch a.Type {
	case "src":
		a.addresses(&means, ofClients)
	case "dst":
		a.addresses(&means, ofDestinations)
	case "dstdomain":
		a.domains(&means)
	case "port":
		var set []addressRange
		a.each(&means, "ports", func(item Item) error {
			r, err := parsePorts(item.Value)
			set = append(set, r)
			return err
		})
		means.cubes = []cube{oneSet(ofPorts, &values{set: newRanges(set).and(everyPort())})}
	case "proto":
		a.words(&means, ofSchemes, schemeOf)
	case "method":
		a.words(&means, ofMethods, methodOf)
	case "time":
		a.times(&means)
	case "dstdom_regex", "url_regex", "urlpath_regex":
		a.expressions(&means)
	case "proxy_auth":
		c.users(a, &means)
	case "external":
		c.external(a, &means)
	case "any-of", "all-of":
		c.group(a, &means, depth)
	default:
		means.addUnconverted(a, a.Position, "acls of type "+a.Type+": missing",
			c.insteadOf("acl "+a.Type, "clients, users, hosts, paths or times"))
	}
	return means
}

// each parses the values of an acl, and records invalid ones.
func (a *ACL) each(means *condition, instead string, read func(Item) error) {
	for _, item := range a.Items {
		if err := read(item); err != nil {
			means.addUnconverted(a, item.At, err.Error(), instead)
		}
	}
}

// listed divides the files of values: those whose lines all have the same meaning for urnd, which reads them
// itself, and the others. Files without values are among the first, since they may get some later.
func (a *ACL) listed(means func(value string) bool) (files, others []string) {
	for _, item := range a.Items {
		if item.List != "" && !means(item.Value) && !slices.Contains(others, item.List) {
			others = append(others, item.List)
		}
	}
	for _, list := range a.Lists {
		if !slices.Contains(others, list) {
			files = append(files, list)
		}
	}
	return files, others
}

func (a *ACL) addresses(means *condition, kind int) {
	files, copied := a.listed(isListed)
	var all, own []addressRange
	a.each(means, "the addresses of the host", func(item Item) error {
		found, err := parseAddresses(item.Value)
		all = append(all, found...)
		if !slices.Contains(files, item.List) {
			own = append(own, found...)
		}
		return err
	})
	means.cubes = []cube{oneSet(kind, &values{set: newRanges(all), files: files, own: newRanges(own), copied: copied})}
}

// plainHost matches a host name in the syntax of lists.
var plainHost = regexp.MustCompile(`^\.?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

func isName(host string) bool {
	return plainHost.MatchString(host) && strings.Trim(host[strings.LastIndexByte(host, '.')+1:], "0123456789") != ""
}

func (a *ACL) domains(means *condition) {
	holds := new(values)
	holds.files, holds.copied = a.listed(func(value string) bool {
		return isName(strings.ToLower(value)) && !isSuffix(strings.ToLower(value))
	})
	a.each(means, "hosts, such as .example.org", func(item Item) error {
		host := strings.TrimSuffix(strings.ToLower(item.Value), ".")
		_, isAddress := parseAddress(host)
		switch {
		case slices.Contains(holds.files, item.List):
		case isName(host), isAddress:
			holds.texts = append(holds.texts, strings.Trim(host, "[]"))
		default:
			return fmt.Errorf("%q is not a host", item.Value)
		}
		return nil
	})
	means.cubes = []cube{one(ofHosts, holds)}
}

// isSuffix reports whether an entry covers all names below a public suffix, which lists of urnd ignore.
func isSuffix(entry string) bool {
	name, ok := strings.CutPrefix(entry, ".")
	suffix, _ := publicsuffix.PublicSuffix(name)
	return ok && suffix == name
}

// words adds schemes or methods. A word parsed as "" matches no request of urnd.
func (a *ACL) words(means *condition, kind int, read func(string) (string, error)) {
	holds := new(values)
	a.each(means, "schemes, methods", func(item Item) error {
		word, err := read(item.Value)
		if err == nil && word != "" && !slices.Contains(holds.texts, word) {
			holds.texts = append(holds.texts, word)
		}
		return err
	})
	means.cubes = []cube{one(kind, holds)}
}

func schemeOf(text string) (string, error) {
	switch scheme := strings.ToLower(text); scheme {
	case "http", "https", "ftp", "gopher", "wais":
		return scheme, nil
	case "cache_object", "urn": // proxy clients of urnd have no such requests
		return "", nil
	}
	return "", fmt.Errorf("%q is not a scheme", text)
}

func methodOf(text string) (string, error) {
	if strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" || strings.HasPrefix(text, "-") {
		return "", fmt.Errorf("%q is not a method", text)
	}
	return text, nil
}

var errNotUTF8 = errors.New("names that are not in UTF-8: missing")

func (c *conversion) users(a *ACL, means *condition) {
	means.login = true
	if !c.canLogIn() {
		means.addUnconverted(a, a.Position, "no user can log in", "access.proxy_users or access.helpers")
		return
	}
	holds := new(values)
	a.each(means, "users, as they log in", func(item Item) error {
		switch {
		case !utf8.ValidString(item.Value):
			return errNotUTF8
		case item.AnyCase && c.foldsUsers && c.negotiate == nil: // user names are in lower case
			holds.texts = append(holds.texts, strings.ToLower(item.Value))
		case item.AnyCase && strings.ToLower(item.Value) != strings.ToUpper(item.Value):
			return errors.New("case-insensitive users")
		default:
			holds.texts = append(holds.texts, item.Value)
		}
		return nil
	})
	// Squid treats REQUIRED as a user name if other names or -i precede it.
	if slices.ContainsFunc(a.Lines,
		func(line []Item) bool { return len(line) > 0 && line[0].Value == "REQUIRED" && !line[0].AnyCase }) {
		means.cubes = []cube{{}} // a client that does not log in reaches no rule
		return
	}
	slices.Sort(holds.texts)
	holds.texts = slices.Compact(holds.texts)
	means.cubes = []cube{one(ofUsers, holds)}
}

// group adds the meaning of nested acls: the union for any-of, the intersection of each line for all-of.
func (c *conversion) group(a *ACL, means *condition, depth int) {
	for _, line := range a.Lines {
		var lists [][]cube
		for _, item := range line {
			if c.nested++; depth >= maxNesting || c.nested > maxNested {
				means.addUnconverted(a, item.At, "acls refer to each other, or too many", "rules")
				return
			}
			part := c.literal(item.Value, item.At, depth+1)
			means.login = means.login || part.login
			if len(part.missing) > 0 || len(part.except) > 0 {
				means.addUnconverted(a, item.At,
					fmt.Sprintf("%s in %s has no equivalent in a rule", item.Value, a.Type), "rules")
			}
			if len(part.except) > 0 {
				part.cubes = nil // they would match more than the acl
			}
			lists = append(lists, part.cubes)
		}
		switch all, ok := product(lists...); {
		case a.Type == "any-of":
			means.cubes = append(means.cubes, slices.Concat(lists...)...)
		case !ok:
			means.addUnconverted(a, a.Position, "the intersection of its acls has no equivalent in one rule", "rules")
		case len(line) > 0: // an empty line matches nothing, although the empty product is everything
			means.cubes = append(means.cubes, all...)
		}
	}
}

// literalOf returns the text that a regular expression matches; the result is false if it is not a literal.
func literalOf(expression string) (text string, ok bool) {
	parsed, err := syntax.Parse(expression, 0)
	if err != nil || parsed.Op != syntax.OpLiteral || parsed.Flags&syntax.FoldCase != 0 {
		return "", false
	}
	return string(parsed.Rune), true
}

// expressions adds the meaning of regular expressions that are exactly a host, a prefix of a path, or both.
func (a *ACL) expressions(means *condition) {
	read := map[string]func(string, bool) (cube, bool){
		"dstdom_regex": hostExpression, "url_regex": urlExpression,
		"urlpath_regex": pathExpression,
	}[a.Type]
	instead := "paths, such as */ads/* or *.exe, which do not look at queries; or urls_from, with a file of URLs as " +
		"docs/lists.md has them"
	if a.Type == "dstdom_regex" {
		instead = "hosts, such as .example.org or *.cdn-?.example.org; or hosts_from, with a file of them"
	}
	a.each(means, instead, func(item Item) error {
		if strings.HasPrefix(item.Value, "^cache_object:") || strings.Contains(item.Value, "squid-internal-mgr") {
			return nil // urnd has no manager requests
		}
		holds, ok := read(item.Value, item.AnyCase)
		if !ok {
			return fmt.Errorf("the regular expression %s is not exactly a host or the beginning of a path", item.Value)
		}
		means.cubes = join(means.cubes, holds)
		return nil
	})
}

// join adds a cube. If it and the last one have only hosts, or only paths, their values are merged.
func join(cubes []cube, next cube) []cube {
	for _, kind := range [...]int{ofHosts, ofPaths} {
		if last := len(cubes) - 1; last >= 0 && cubes[last].only(kind) && next.only(kind) {
			cubes[last][kind].texts = append(cubes[last][kind].texts, next[kind].texts...)
			return cubes
		}
	}
	return append(cubes, next)
}

// hostExpression parses an expression for hosts, which are in lower case in Squid.
func hostExpression(expression string, anyCase bool) (cube, bool) {
	if anyCase {
		expression = strings.ToLower(expression)
	}
	body, hasEnd := strings.CutSuffix(expression, "$")
	for begin, dot := range map[string]string{`(^|\.)`: ".", `(\.|^)`: ".", `^(.*\.)?`: ".", `^(.+\.)?`: ".", "^": ""} {
		rest, ok := strings.CutPrefix(body, begin)
		host, isLiteral := literalOf(rest)
		if ok && hasEnd && isLiteral && isName(host) && !strings.HasPrefix(host, ".") {
			return one(ofHosts, textValues(dot+host)), true
		}
	}
	return cube{}, expression == "." || expression == ".*"
}

// plainPath matches a normalized path.
var plainPath = regexp.MustCompile(`^/([A-Za-z0-9_~-][A-Za-z0-9._~-]*(/|$))*$`)

// pathExpression parses an expression for a prefix of paths. Other expressions would match the query too.
func pathExpression(expression string, anyCase bool) (cube, bool) {
	body, ok := strings.CutPrefix(expression, "^")
	path, isLiteral := literalOf(strings.TrimSuffix(body, ".*"))
	if !ok || !isLiteral || !plainPath.MatchString(path) || anyCase && strings.ToLower(path) != strings.ToUpper(path) {
		return cube{}, false
	}
	return one(ofPaths, textValues(path+"*")), true
}

// urlExpression parses an expression for a host and a prefix of the path. There is none for https, because
// CONNECT has no URL.
func urlExpression(expression string, anyCase bool) (cube, bool) {
	if expression == "." || expression == ".*" {
		return cube{}, true
	}
	rest, ok := strings.CutPrefix(expression, "^http://")
	host, path, hasPath := strings.Cut(rest, "/")
	if anyCase {
		host = strings.ToLower(host)
	}
	host, isLiteral := literalOf(host)
	holds, isPath := pathExpression("^/"+path, anyCase)
	if !ok || !hasPath || !isLiteral || !isName(host) || strings.HasPrefix(host, ".") || !isPath {
		return cube{}, false
	}
	port, _ := parsePorts("80") // Squid omits the default port of the scheme
	holds[ofHosts], holds[ofPorts], holds[ofSchemes] = textValues(host), &values{set: ranges{port}}, textValues("http")
	return holds, true
}
