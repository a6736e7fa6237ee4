package uri

import "strings"

// News is a parsed "news" URL: RFC 1738 section 3.6, and RFC 5538, which adds a server. Exactly one of Group
// and MessageID is set.
type News struct {
	Group     string // decoded; a pattern with "*" and "?". "*" is all groups, also of an empty list
	MessageID string // decoded, without angle brackets
	Query     NewsQuery
}

// NNTP is the part of an "nntp" URL after its authority: RFC 1738 section 3.7.
type NNTP struct {
	Group   string // decoded
	Article string // digits, "" if it is absent
	Query   NewsQuery
}

var (
	ruleNewsGroup = newRule("news_group", "group", "RFC 5538 section 3",
		"a group name is letters, digits and -.+_, other bytes "+
			"percent-encoded, and does not begin with a dot")
	ruleArticle = newRule("news_article", "article", "RFC 1738 section 5",
		"a message-id is text, an at sign and a host")
	ruleMessageID = newRule("message_id", "message-id", "RFC 3977 section 9.8",
		`a message-id contains only printable ASCII, and no ">"`)
	ruleNNTP   = newRule("nntp_group", "nntpurl", "RFC 1738 section 5", "an nntp URL names a group after the host")
	ruleDigits = newRule("article_number", "digits", "RFC 5538 section 3",
		"an article is a number of at most 16 digits")
)

// News returns the parts of a "news" URL. The error is a *ParseError.
func (u URI) News() (News, error) {
	if !u.hasScheme("news") {
		return News{}, failure(u.s, 0, RuleOtherScheme)
	}
	path, at := u.s[u.pathStart():u.fragStart()], u.pathStart() // a message-id may contain "?"
	if _, ok := u.Authority(); ok {
		if err := u.checkServer(); err != nil {
			return News{}, err
		}
		if path == "" || path == "/" {
			return News{Group: "*"}, nil
		}
		if path[0] != '/' {
			return News{}, failure(u.s, at, ruleURLPath)
		}
		path, at = path[1:], at+1
	}
	if unique, host, ok := cutLast(path, '@'); ok {
		host, query := cutNewsQuery(host, true)
		path = path[:len(unique)+len("@")+len(host)]
		if unique == "" || checkMailDomain(host) != nil {
			return News{}, failure(u.s, at, ruleArticle)
		}
		if i := indexEncoded(path, isNoMessageID); i >= 0 {
			return News{}, failure(u.s, at+i, ruleMessageID)
		}
		return News{MessageID: decode(path), Query: query}, nil
	}
	if path == "" {
		return News{Group: "*"}, nil
	}
	group, query := cutNewsQuery(path, false)
	if i := badGroup(group, query == NewsQuery{}); i >= 0 { // the articles of a pattern have no numbers
		return News{}, failure(u.s, at+i, ruleNewsGroup)
	}
	return News{Group: decode(group), Query: query}, nil
}

// NNTP returns the parts of an "nntp" URL. The error is a *ParseError.
func (u URI) NNTP() (NNTP, error) {
	if !u.hasScheme("nntp") {
		return NNTP{}, failure(u.s, 0, RuleOtherScheme)
	}
	if err := u.checkServer(); err != nil {
		return NNTP{}, err
	}
	path, at, err := u.pathText() // RFC 5538 section 2.3 has no query, but queries are in use
	if err != nil {
		return NNTP{}, err
	}
	if len(path) < 2 {
		return NNTP{}, failure(u.s, at+len(path), ruleNNTP)
	}
	path, query := cutNewsQuery(path, strings.IndexByte(path[1:], '/') >= 0)
	group, article, ok := strings.Cut(path[1:], "/")
	if i := badGroup(group, false); i >= 0 {
		return NNTP{}, failure(u.s, at+1+i, ruleNewsGroup)
	}
	if ok && (article == "" || len(article) > maxArticleDigits || strings.Trim(article, digits) != "") {
		return NNTP{}, failure(u.s, at+len(group)+2, ruleDigits)
	}
	return NNTP{Group: decode(group), Article: article, Query: query}, nil
}

// maxArticleDigits is the limit of RFC 5538 section 3.
const maxArticleDigits = 16

// isNoMessageID reports whether b is excluded from a message-id: A-NOTGT, RFC 3977 section 9.8.
func isNoMessageID(b byte) bool { return b <= ' ' || b == '>' || b >= 0x7F }

// badGroup returns the offset of the first byte that is not allowed in a group name, or -1. RFC 1738 requires
// an initial letter. RFC 5538 sections 3 and 4 also allow other initial bytes, patterns, and percent-encoded
// all bytes that group names can have by RFC 3977 section 9.8. A tilde needs no encoding (RFC 3986 section
// 2.3).
func badGroup(s string, pattern bool) int {
	if s == "" {
		return 0
	}
	for i := 0; i < len(s); i++ {
		b, at := s[i], i
		if b == '%' {
			b = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
		}
		wild := pattern && (b == '*' || b == '?' && i > at)
		if !isGroupChar(b, i > at) && !wild || b == '.' && at == 0 {
			return at
		}
	}
	return -1
}

// isGroupChar reports whether a group name may contain b, percent-encoded or not.
func isGroupChar(b byte, encoded bool) bool {
	return is(b, classAlpha|classDigit) || strings.IndexByte("-.+_~", b) >= 0 ||
		encoded && b > ' ' && b != 0x7F && strings.IndexByte(`!*,?[\]@`, b) < 0
}

// newsForm writes all groups of a server as "*": RFC 5538 section 4. A missing or empty path means the same.
func newsForm(dst []byte, start int, hasAuthority bool) []byte {
	if path := string(dst[start:]); hasAuthority && (path == "" || path == "/") {
		return append(dst[:start], '/', '*')
	}
	return dst
}
