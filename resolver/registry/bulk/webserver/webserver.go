// Package webserver converts the redirects of Apache and nginx configurations to registry entries. A
// configuration file and the base URL of its directory enter; an Item leaves for each entry, and for each
// rule that cannot be imported. Both servers' directives become one list of rules in the order in which the
// server tries them, and an entry is made only if urnd would answer like the server. Targets of prefixes are
// URI templates (RFC 6570); paths are encoded by RFC 3986.
//
//   - apache.go, apacheflags.go, apachecond.go: Apache; nginx.go, nginxwords.go, nginxmap.go: nginx;
//     rewritemap.go: text files of RewriteMap
//   - rule.go, accept.go: a rule and its outcome
//   - route.go, language.go: the paths that a regular expression matches, and overlaps of several expressions
//   - table.go: the entries of all rules
package webserver

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
)

const (
	maxSize  = 256 << 20 // bytes of a configuration
	maxLine  = 1 << 20   // bytes of a directive
	maxRules = 1 << 20
	maxDepth = 32 // of nested blocks
)

// ErrTooLong is the error of a directive longer than maxLine.
var ErrTooLong = fmt.Errorf("longer than %d bytes", maxLine)

// site is the base URL that a configuration is for, in parts.
type site struct {
	origin, scheme, host string
	port                 string
	dir                  string // the path of the directory, with leading and trailing slash
}

// newSite parses the URL of a directory.
func newSite(base string) (site, error) {
	u, err := url.Parse(base)
	if base == "" || err != nil || u.Host == "" {
		return site{},
			errors.New("--base must be the URL of the directory of the configuration, such as " +
				"https://w3id.org/example/")
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[u.Scheme == "https"]
	}
	return site{
		u.Scheme + "://" + u.Host, u.Scheme, strings.ToLower(u.Hostname()), port,
		strings.TrimSuffix(u.Path, "/") + "/",
	}, nil
}

// readAll reads a configuration as a whole, without its byte order mark.
func readAll(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(b) > maxSize {
		err = fmt.Errorf("configuration longer than %d bytes", maxSize)
	}
	return strings.TrimPrefix(string(b), "\ufeff"), err
}
