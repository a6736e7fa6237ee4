package file

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// place is the local path in a file URL.
type place struct {
	path  string // absolute and clean, decoded: "/srv/doc"
	slash bool   // trailing slash: a directory
}

var (
	ruleNoQuery = uri.Rule{
		Code: "file_query", Name: "file-URI", Section: "RFC 8089 section 2",
		Requirement: "a file URL has no query: a question mark in a name is written %3F",
	}
	ruleName = uri.Rule{
		Code: "file_name", Name: "fpath", Section: "RFC 1738 section 3.10",
		Requirement: "a name contains neither a slash nor a NUL, not even percent-encoded",
	}
	ruleEmpty = uri.Rule{
		Code: "file_empty_name", Name: "fpath", Section: "RFC 1738 section 3.10",
		Requirement: "a file name is not empty: the path has two slashes in a row",
	}
)

// placeOf returns the place of a URL in normal form, whose path starts with a slash. A percent-encoded slash is
// an error: it would be part of a name, which no file has, and is never a separator.
func placeOf(u uri.URI) (place, error) {
	if host, _ := u.Host(); host != "" { // the normal form of "localhost" is the empty host
		return place{},
			fmt.Errorf("%w: file URL of another host, %q; only files of this host are served, by URLs without a "+
				"host or with "+
				"localhost", resolver.ErrForbidden, host)
	}
	at := len(u.String())
	if query, ok := u.Query(); ok {
		return place{}, &uri.ParseError{Input: u.String(), Offset: at - len(query) - 1, Rule: ruleNoQuery}
	}
	at -= len(u.Path())
	if u.Path() == "/" {
		return place{path: "/", slash: true}, nil
	}
	segments, slash := strings.CutSuffix(strings.TrimPrefix(u.Path(), "/"), "/")
	p := place{slash: slash}
	for segment := range strings.SplitSeq(segments, "/") {
		at++ // the slash before it
		name, err := url.PathUnescape(segment)
		switch {
		case name == "":
			return place{}, &uri.ParseError{Input: u.String(), Offset: at, Rule: ruleEmpty}
		case err != nil, strings.ContainsAny(name, "/\x00"), name == ".", name == "..":
			// The normal form has no literal dot segments.
			return place{}, &uri.ParseError{Input: u.String(), Offset: at, Rule: ruleName}
		}
		p.path += "/" + name
		at += len(segment)
	}
	return p, nil
}

// below returns the path relative to a root that contains it, "." for the root itself. Names that start with a
// dot are not found, as in listings: they are usually settings, keys and histories of programs, not meant to be
// published.
func (p place) below(root string) (string, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(p.path, root), "/")
	if name == "" {
		return ".", nil
	}
	for segment := range strings.SplitSeq(name, "/") {
		if isHidden(segment) {
			return "", scheme.PolicyDenial(http.StatusNotFound, "no_such_file", noSuchFile)
		}
	}
	return name, nil
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// urlOf returns the file URL of a path.
func urlOf(local string, slash bool) string {
	var b strings.Builder
	b.WriteString("file://")
	for name := range strings.SplitSeq(strings.Trim(local, "/"), "/") {
		b.WriteString("/" + url.PathEscape(name))
	}
	if slash && local != "/" {
		b.WriteByte('/')
	}
	return b.String()
}

// rootOf returns the longest root that contains a path.
func rootOf(roots []string, local string) (string, bool) {
	found, ok := "", false
	for _, root := range roots {
		if contains(root, local) && len(root) > len(found) {
			found, ok = root, true
		}
	}
	return found, ok
}

// rootsBelow returns the roots that a path contains.
func rootsBelow(roots []string, local string) []string {
	var found []string
	for _, root := range roots {
		if contains(local, root) {
			found = append(found, root)
		}
	}
	return found
}

func contains(dir, local string) bool {
	return dir == "/" || local == dir || strings.HasPrefix(local, dir+"/")
}

// parentOf returns a link to the parent directory of p; the parent of a root is the list of all roots.
func parentOf(p place, root string) *scheme.Link {
	if p.path == root {
		return &scheme.Link{Text: "all served directories", URI: urlOf("/", true)}
	}
	parent := path.Dir(p.path)
	return &scheme.Link{Text: scheme.DecodeText(parent), URI: urlOf(parent, true)}
}
