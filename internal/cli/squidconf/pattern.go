package squidconf

import (
	"fmt"
	"regexp"
	"strings"
)

// literalOf returns the text that a regular expression stands for, and false where it is more than a text.
func literalOf(expression string) (text string, ok bool) {
	var all strings.Builder
	for i := 0; i < len(expression); i++ {
		switch c := expression[i]; {
		case c == '\\' && i+1 < len(expression) && strings.IndexByte(`.-/_+?*()[]{}|^$\`, expression[i+1]) >= 0:
			i++
			all.WriteByte(expression[i])
		case strings.IndexByte(`\.+?*()[]{}|^$`, c) >= 0:
			return "", false
		default:
			all.WriteByte(c)
		}
	}
	return all.String(), true
}

// The parts of expressions before a host that stand for the name and all below it.
var belowPrefixes = []string{`(^|\.)`, `(^|.*\.)`, `^(.*\.)?`, `(\.|^)`, `^(.+\.)?`, `^([^.]+\.)*`}

// expressions adds what regular expressions mean that are exactly a host, a path or both.
func (a *ACL) expressions(means *condition) {
	read := map[string]func(string, bool) (cube, bool){"dstdom_regex": hostExpression, "url_regex": urlExpression, "urlpath_regex": pathExpression}[a.Type]
	for _, item := range a.Items {
		if a.Name == "manager" && strings.Contains(item.Value, "cache_object") || strings.Contains(item.Value, "squid-internal-mgr") {
			continue // urnd has no requests for a manager
		}
		expression := item.Value
		if expression == "." || expression == ".*" {
			means.cubes = append(means.cubes, everyURL(a.Type))
			continue
		}
		holds, ok := read(expression, item.AnyCase)
		if !ok {
			means.lose(a, item.At, fmt.Sprintf("the regular expression %s is not exactly a host or a path", expression), insteadOf(a.Type))
			continue
		}
		means.cubes = join(means.cubes, holds)
	}
}

// join adds a cube, to the values of the one before where both are about hosts or paths alone.
func join(cubes []cube, one cube) []cube {
	if last := len(cubes) - 1; last >= 0 {
		hosts, with := cube{hosts: one.hosts}, cube{hosts: cubes[last].hosts}
		if len(one.hosts) > 0 && len(with.hosts) > 0 && equal(one, hosts) && equal(cubes[last], with) {
			cubes[last].hosts = append(cubes[last].hosts, one.hosts...)
			return cubes
		}
		var path, before cube
		path.texts[paths], before.texts[paths] = one.texts[paths], cubes[last].texts[paths]
		if len(path.texts[paths]) > 0 && len(before.texts[paths]) > 0 && equal(one, path) && equal(cubes[last], before) {
			cubes[last].texts[paths] = append(cubes[last].texts[paths], one.texts[paths]...)
			return cubes
		}
	}
	return append(cubes, one)
}

// everyURL returns what any character stands for: CONNECT has no path.
func everyURL(kind string) cube {
	var all cube
	if kind == "urlpath_regex" {
		all.texts[paths] = []string{"/*"}
	}
	return all
}

func insteadOf(kind string) string {
	if kind == "dstdom_regex" {
		return "hosts, such as .example.org or *.cdn-?.example.org"
	}
	return "paths, such as */ads/* or *.exe, which do not look at queries; or urls_from"
}

// hostExpression reads an expression for hosts, which Squid has in small letters.
func hostExpression(expression string, anyCase bool) (cube, bool) {
	if anyCase {
		expression = strings.ToLower(expression)
	}
	body, ok := strings.CutSuffix(expression, "$")
	if !ok {
		return cube{}, false
	}
	prefix := ""
	for _, below := range belowPrefixes {
		if rest, ok := strings.CutPrefix(body, below); ok {
			body, prefix = rest, "."
		}
	}
	if prefix == "" {
		if body, ok = strings.CutPrefix(body, "^"); !ok {
			return cube{}, false
		}
	}
	host, ok := literalOf(body)
	if !ok || !isName(host) || strings.HasPrefix(host, ".") {
		return cube{}, false
	}
	return cube{hosts: []string{prefix + host}}, true
}

// pathExpression reads an expression for the beginning of paths. Others would be about the query, too.
func pathExpression(expression string, anyCase bool) (cube, bool) {
	body, ok := strings.CutPrefix(expression, "^")
	if !ok {
		return cube{}, false
	}
	path, ok := literalOf(strings.TrimSuffix(body, ".*"))
	if !ok || !plainPath.MatchString(path) || anyCase && strings.ToLower(path) != strings.ToUpper(path) {
		return cube{}, false
	}
	var holds cube
	holds.texts[paths] = []string{path + "*"}
	return holds, true
}

// plainPath is a path that is in normal form.
var plainPath = regexp.MustCompile(`^/([A-Za-z0-9_~-][A-Za-z0-9._~-]*(/|$))*$`)

var schemeExpressions = map[string][]string{
	"^http://": {"http"}, "^http:": {"http"}, "^https://": {"https"}, "^https:": {"https"}, "^https?://": {"http", "https"}, "^https?:": {"http", "https"},
	"^ftp://": {"ftp"}, "^ftp:": {"ftp"}, "^gopher:": {"gopher"}, "^gopher://": {"gopher"}, "^wais:": {"wais"}, "^wais://": {"wais"},
}

// urlExpression reads an expression for a scheme, or for a scheme, a host and the beginning of the path.
func urlExpression(expression string, anyCase bool) (cube, bool) {
	var holds cube
	if values, ok := schemeExpressions[strings.ToLower(expression)]; ok {
		holds.texts[schemes] = values
		return holds, true
	}
	for begin, port := range map[string]int{"^http://": 80, "^https://": 443} {
		rest, ok := strings.CutPrefix(expression, begin)
		if !ok {
			continue
		}
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			return holds, false
		}
		host, ok := literalOf(rest[:slash])
		if anyCase {
			host = strings.ToLower(host)
		}
		if !ok || !isName(host) || strings.HasPrefix(host, ".") {
			return holds, false
		}
		if holds, ok = pathExpression("^"+rest[slash:], anyCase); !ok {
			return holds, false
		}
		holds.hosts, holds.ports = []string{host}, ports{{port, port}} // Squid leaves out the port of the scheme
		holds.texts[schemes] = []string{strings.TrimSuffix(begin[1:], "://")}
		return holds, true
	}
	return holds, false
}
