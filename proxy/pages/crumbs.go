package pages

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// maxCrumbs bounds the directories above one that are shown: each link repeats those before it.
const maxCrumbs = 32

// crumbs returns links to the directories above a directory of FTP, from the one where the login leads to. Of other listings the
// URI does not say what is above, or that need not be served.
func (to linker) crumbs(l *scheme.Listing) []navLink {
	u, err := uri.Parse(l.URI)
	if err != nil || l.Kind != scheme.KindDirectory || !uri.EqualFold(u.Scheme(), "ftp") {
		return nil
	}
	path := strings.TrimSuffix(strings.TrimPrefix(u.Path(), "/"), "/")
	authority, ok := u.Authority()
	if path == "" || !ok {
		return nil
	}
	base, names := "ftp://"+authority+"/", strings.Split(path, "/")
	if len(names) > maxCrumbs {
		return nil
	}
	links := []navLink{{"", to.link(authority, base)}}
	for _, name := range names[:len(names)-1] {
		base += name + "/"
		words, err := url.PathUnescape(name)
		if err != nil || words == "" {
			words = "/"
		}
		links = append(links, navLink{"›", to.link(words, base)})
	}
	return links
}
