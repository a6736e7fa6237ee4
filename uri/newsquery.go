package uri

import (
	"strconv"
	"strings"
)

// NewsQuery is the query of a "news" or "nntp" URL. RFC 5538 section 2.3 defines none, and reports that queries
// are in use for the parts of an article. Those, and one for a page of a group, are supported as an extension
// that does not conflict with the RFCs: "?" must be percent-encoded in a message-id (section 4), and no group
// name contains it. Any other query is not well formed.
//
//	?source             an article as it is
//	?part=2.1           a part of an article
//	?articles=101-200   articles of a group
//
// The zero value means no query.
type NewsQuery struct {
	Source bool
	// Part is at most 8 numbers from 1, joined by dots, as in RFC 3501 section 6.4.5; "" for none.
	Part string
	// First and Last are article numbers, First <= Last; 0 for none.
	First, Last uint64
}

const (
	newsSource   = "source"
	newsPart     = "part="
	newsArticles = "articles="
	// maxPartDepth limits the nesting of a part in a URL, maxPartDigits the digits of each number.
	maxPartDepth  = 8
	maxPartDigits = 4
)

// cutNewsQuery returns s without its query, and the query of an article or of a group. It returns all of s if
// there is no valid query.
func cutNewsQuery(s string, isArticle bool) (string, NewsQuery) {
	before, text, ok := strings.Cut(s, "?")
	if !ok {
		return s, NewsQuery{}
	}
	text = decode(text) // the normal form has unreserved bytes decoded
	var query NewsQuery
	if isArticle {
		query, ok = parseArticleQuery(text)
	} else {
		query, ok = parseGroupQuery(text)
	}
	if !ok {
		return s, NewsQuery{}
	}
	return before, query
}

func parseArticleQuery(text string) (NewsQuery, bool) {
	if text == newsSource {
		return NewsQuery{Source: true}, true
	}
	part, ok := strings.CutPrefix(text, newsPart)
	if !ok || strings.Count(part, ".") >= maxPartDepth {
		return NewsQuery{}, false
	}
	for number := range strings.SplitSeq(part, ".") {
		if number == "" || len(number) > maxPartDigits || number[0] == '0' || strings.Trim(number, digits) != "" {
			return NewsQuery{}, false
		}
	}
	return NewsQuery{Part: part}, true
}

func parseGroupQuery(text string) (NewsQuery, bool) {
	text, ok := strings.CutPrefix(text, newsArticles)
	from, to, found := strings.Cut(text, "-")
	first, isFirst := parseArticleNumber(from)
	last, isLast := parseArticleNumber(to)
	if !ok || !found || !isFirst || !isLast || first > last {
		return NewsQuery{}, false
	}
	return NewsQuery{First: first, Last: last}, true
}

// parseArticleNumber parses an article number, which is at least 1: RFC 3977 section 6.
func parseArticleNumber(text string) (uint64, bool) {
	if text == "" || len(text) > maxArticleDigits || strings.Trim(text, digits) != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil && n > 0
}

// String returns the query with its question mark, or "" for the zero value.
func (q NewsQuery) String() string {
	switch {
	case q.Source:
		return "?" + newsSource
	case q.Part != "":
		return "?" + newsPart + q.Part
	case q.First != 0:
		return "?" + newsArticles + strconv.FormatUint(q.First, 10) + "-" + strconv.FormatUint(q.Last, 10)
	default:
		return ""
	}
}
