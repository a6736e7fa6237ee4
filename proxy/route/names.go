package route

import (
	"errors"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver"
)

// PathNames is the path of the pages that list names of the registry. PathSitemap is that of the index of a
// sitemap; its files are in the same directory.
const (
	PathNames   = "/names"
	PathSitemap = "/sitemap.xml"
)

// The prefix and suffix of the paths of a sitemap's files. The text between them is opaque here.
const (
	sitemapBefore = "/sitemap-"
	sitemapAfter  = ".xml"
)

// Names is a page that lists names of the registry.
type Names struct {
	Search resolver.NameSearch // the search; the client and its rights are not set here
	// Err is why some parameters are invalid, nil if all are valid. Search has the valid ones.
	Err error
}

// Sitemap is an index of a sitemap, or one of its files.
type Sitemap struct {
	File string // "" for the index
}

// The errors of parameters of the pages that list names.
var (
	ErrNamesLong   = errors.New("a form field is too long")
	ErrNamesText   = errors.New("a form field is not valid text")
	ErrNamesStatus = errors.New("unknown status")
)

// The longest values of parameters, in bytes, decoded.
const (
	maxField  = 200
	maxPrefix = 500
	maxCursor = 2048 // some cursors are longer than names
)

// NameSearchTarget returns the target of the list of names with the given words in their titles, in the language
// that the reader has chosen, "" for none.
func NameSearchTarget(words, language string) string {
	target := PathNames + "?q=" + url.QueryEscape(words)
	if language == "" {
		return target
	}
	return target + "&lang=" + url.QueryEscape(language)
}

// listed parses the target of a list of names or of a sitemap, and reports whether it is one.
func (p *Endpoint) listed(target string) (Target, bool) {
	switch {
	case p.HasNameList && (target == PathNames || strings.HasPrefix(target, PathNames+"?")):
		return parseNames(strings.TrimPrefix(target, PathNames)), true
	case p.HasSitemap && target == PathSitemap:
		return Target{Form: FormSitemap, Sitemap: &Sitemap{}}, true
	case p.HasSitemap && strings.HasPrefix(target, sitemapBefore) && strings.HasSuffix(target, sitemapAfter):
		file := strings.TrimSuffix(strings.TrimPrefix(target, sitemapBefore), sitemapAfter)
		return Target{Form: FormSitemap, Sitemap: &Sitemap{File: file}}, file != ""
	default:
		return Target{}, false
	}
}

// parseNames parses the query of a page that lists names, including its question mark.
func parseNames(query string) Target {
	n := new(Names)
	for _, field := range [...]struct {
		name string
		to   *string
		most int
	}{
		{"prefix", &n.Search.Prefix, maxPrefix},
		{"q", &n.Search.Words, maxField},
		{"host", &n.Search.Host, maxField},
		{"tag", &n.Search.Tag, maxField},
		{"status", &n.Search.Status, maxField},
		{"after", &n.Search.After, maxCursor},
	} {
		raw, _ := rawParameter(query, field.name)
		text, err := url.QueryUnescape(raw)
		switch {
		case err != nil || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
			n.Err = ErrNamesText
		case len(text) > field.most:
			n.Err = ErrNamesLong
		default:
			*field.to = strings.TrimSpace(text)
		}
	}
	switch n.Search.Status {
	case "", "active", "reserved", "withdrawn":
	default:
		n.Search.Status, n.Err = "", ErrNamesStatus
	}
	return Target{Form: FormNames, Language: languageOf(query), Names: n}
}

// clone returns a copy with copied strings: see Request.Clone.
func (n *Names) clone(copyText func(string) string) *Names {
	s := n.Search
	for _, text := range [...]*string{&s.Prefix, &s.Words, &s.Host, &s.Tag, &s.Status, &s.After} {
		*text = copyText(*text)
	}
	return &Names{s, n.Err}
}
