package nntp

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// links makes the URLs of what a listing has: at the server of its URL, as far as that has one.
type links struct {
	news string // before a group or a message-id
	nntp string // before a group; "" for a news URL
	self string // of the URL itself
}

// newLinks returns the links of a URL in normal form. They have no user: who logs in by a link must be
// asked again.
func newLinks(u uri.URI) links {
	self := u.WithoutFragment().String()
	host, ok := u.Host()
	if !ok {
		return links{news: "news:", self: self}
	}
	authority := host
	if port, ok := u.Port(); ok {
		authority += ":" + port
	}
	userinfo, ok := u.Userinfo()
	if ok {
		self = strings.Replace(self, userinfo+"@", "", 1) // it is the first that has an at sign
	}
	l := links{news: "news://" + authority + "/", self: self}
	if u.Scheme() == "nntp" {
		l.nntp = "nntp://" + authority + "/"
	}
	return l
}

// group returns the URL of a group, or a page of it; "" for a name that no URL can have.
func (l links) group(name string, query uri.NewsQuery) string {
	if strings.ContainsAny(name, "*?") {
		return ""
	}
	prefix := l.news
	if l.nntp != "" {
		prefix = l.nntp
	}
	return valid(prefix + escape(name) + query.String())
}

// numbered returns the nntp URL of an article; "" where the group has none.
func (l links) numbered(group, number string) string {
	if l.nntp == "" {
		return ""
	}
	return valid(l.nntp + escape(group) + "/" + number)
}

// message returns the URL of an article; "" for a message-id that no URL can have. Other schemes than
// nntp name it at any server: RFC 5538 section 2.2.
func (l links) message(id string) string {
	if !strings.Contains(id, "@") {
		return ""
	}
	return valid(l.news + escape(id))
}

// within returns the URL of the article itself with a query.
func (l links) within(query uri.NewsQuery) string {
	article, _, _ := strings.Cut(l.self, "?")
	return valid(article + query.String())
}

// valid returns the normal form of a URL, "" if it is not well formed.
func valid(text string) string {
	u, err := uri.Parse(text)
	if err != nil || u.Check() != nil {
		return ""
	}
	return u.Normalize().String()
}

// escape percent-encodes what a message-id or a group must not have as it is in a URL: RFC 5538 sections
// 3 and 4.
func escape(s string) string { return uri.Escape(s, "!$&'()*+,;=:@") }
