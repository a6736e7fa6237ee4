package nntp

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// links builds the URLs in a listing, at the server of the requested URL if that has one.
type links struct {
	news string // prefix of a group or a message-id
	nntp string // prefix of a group; "" for a news URL
	self string // the requested URL
}

// newLinks returns the links for a URL in normal form. They have no user: a client that follows a link must
// authenticate again.
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
		self = strings.Replace(self, userinfo+"@", "", 1) // only userinfo can precede the first at sign
	}
	l := links{news: "news://" + authority + "/", self: self}
	if u.Scheme() == "nntp" {
		l.nntp = "nntp://" + authority + "/"
	}
	return l
}

// group returns the URL of a group, or of a page of it; "" for a name that no URL can have.
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

// numbered returns the nntp URL of an article; "" for a news URL.
func (l links) numbered(group, number string) string {
	if l.nntp == "" {
		return ""
	}
	return valid(l.nntp + escape(group) + "/" + number)
}

// message returns the news URL of an article; "" for a message-id that no URL can have. Only news URLs name an
// article by message-id: RFC 5538 section 2.2.
func (l links) message(id string) string {
	if !strings.Contains(id, "@") {
		return ""
	}
	return valid(l.news + escape(id))
}

// within returns the requested article's URL with another query.
func (l links) within(query uri.NewsQuery) string {
	article, _, _ := strings.Cut(l.self, "?")
	return valid(article + query.String())
}

// valid returns the normal form of a URL, "" if it is malformed.
func valid(text string) string {
	u, err := uri.Parse(text)
	if err != nil || u.Check() != nil {
		return ""
	}
	return u.Normalize().String()
}

// escape percent-encodes the bytes of a message-id or a group name that a URL does not allow: RFC 5538 sections
// 3 and 4.
func escape(s string) string { return uri.Escape(s, "!$&'()*+,;=:@") }
