// Package webserver reads the redirects of configurations of Apache and nginx.
//
// Both become one list of rules in the order in which the server tries them, which one piece of code turns into entries: an entry
// answers as the server would, and what has no such entry is listed with its line.
//
//   - apache.go, apacheflags.go, apachecond.go: Apache; nginx.go, nginxwords.go, nginxmap.go: nginx; rewritemap.go: text files of RewriteMap
//   - rule.go, accept.go: a rule, and what it answers
//   - route.go, language.go: the paths of a regular expression, and how those of several overlap
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
	maxDepth = 32 // of blocks
)

// ErrTooLong is the error of a directive that is too long to be one.
var ErrTooLong = fmt.Errorf("it has more than %d bytes", maxLine)

// site is where the names are that a configuration answers for.
type site struct {
	origin, scheme, host string
	port                 string
	dir                  string // the path of the directory, between slashes
}

// newSite parses the address of a directory.
func newSite(base string) (site, error) {
	u, err := url.Parse(base)
	if base == "" || err != nil || u.Host == "" {
		return site{}, errors.New("--base is the address of the directory that the configuration is of, such as https://w3id.org/example/")
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: "443", false: "80"}[u.Scheme == "https"]
	}
	return site{u.Scheme + "://" + u.Host, u.Scheme, strings.ToLower(u.Hostname()), port, strings.TrimSuffix(u.Path, "/") + "/"}, nil
}

// readAll reads a configuration, whose lines end with a line feed.
func readAll(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(b) > maxSize {
		err = fmt.Errorf("the configuration has more than %d bytes", maxSize)
	}
	return strings.TrimPrefix(string(b), "\ufeff"), err
}
