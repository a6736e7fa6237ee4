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

// place is what a file URL names.
type place struct {
	path  string // absolute and clean, decoded: "/srv/doc"
	slash bool   // it ends in a slash: a directory
}

// placeOf returns the place of a URL in normal form.
func placeOf(u uri.URI) (place, error) {
	if host, _ := u.Host(); host != "" { // "localhost" has none in normal form
		return place{}, fmt.Errorf("%w: a file URL of another host, %q; only this host's own are served, and they name no host, or localhost", resolver.ErrForbidden, host)
	}
	if _, ok := u.Query(); ok {
		return place{}, scheme.Refuse(http.StatusBadRequest, "a file URL has no query (RFC 8089 section 2): a question mark in a name is written %3F")
	}
	segments, ok := strings.CutPrefix(u.Path(), "/")
	if !ok {
		return place{}, scheme.Refuse(http.StatusBadRequest, "the path of a file URL begins with a slash")
	}
	segments, slash := strings.CutSuffix(segments, "/")
	if segments == "" {
		return place{path: "/", slash: true}, emptyName(slash)
	}
	p := place{slash: slash}
	for segment := range strings.SplitSeq(segments, "/") {
		name, err := nameOf(segment)
		if err != nil {
			return place{}, err
		}
		p.path += "/" + name
	}
	return p, nil
}

// nameOf returns the name that a segment encodes. An encoded slash would be a name that no file has, and is
// never taken for a separator.
func nameOf(segment string) (string, error) {
	name, err := url.PathUnescape(segment)
	switch {
	case err != nil:
		return "", scheme.Refuse(http.StatusBadRequest, "the path is not well formed")
	case strings.ContainsAny(name, "/\x00"):
		return "", scheme.Refuse(http.StatusBadRequest, "a name has no slash and no NUL, also not percent-encoded")
	case name == ".", name == "..": // unreachable: the normal form has none
		return "", scheme.Refuse(http.StatusBadRequest, "a dot segment remains")
	}
	return name, emptyName(name == "")
}

func emptyName(isEmpty bool) error {
	if isEmpty {
		return scheme.Refuse(http.StatusNotFound, "there are two slashes in a row: no file has an empty name")
	}
	return nil
}

// below returns the path relative to a root that contains it, "." for the root. Names that begin with a dot are
// those that a directory hides: the settings, keys and histories of programs, which are seldom meant to be
// published.
func (p place) below(root string) (string, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(p.path, root), "/")
	if name == "" {
		return ".", nil
	}
	for segment := range strings.SplitSeq(name, "/") {
		if isHidden(segment) {
			return "", scheme.Refuse(http.StatusNotFound, noSuchFile)
		}
	}
	return name, nil
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// urlOf returns the URL of a path.
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

// parentOf returns the directory above p; that above a root is the list of all.
func parentOf(p place, root string) *scheme.Link {
	if p.path == root {
		return &scheme.Link{Text: "all directories that are served", URI: urlOf("/", true)}
	}
	parent := path.Dir(p.path)
	return &scheme.Link{Text: scheme.Text(parent), URI: urlOf(parent, true)}
}
