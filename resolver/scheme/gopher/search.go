package gopher

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// searchForm returns what is shown for a search without words: RFC 1436 section 3.7.2. No server is asked.
func searchForm(q request) *scheme.Listing {
	return &scheme.Listing{
		Kind: scheme.KindMenu, Title: title(q), URI: q.plain(), Parent: parent(q),
		Search: &scheme.Search{Label: "Words to search for", Prefix: q.plain() + encodedTab},
	}
}

// submitted returns the URI of a search whose words a form of a page has sent: it puts them into a query,
// "?search=words", after the prefix of the search or instead of it. In the path of a gopher URL a "?" of a selector is
// percent-encoded wherever urnd makes a link, so that these are told apart.
func (q request) submitted() (string, bool) {
	_, query, _ := strings.Cut(q.uri.String(), "?")
	text, ok := strings.CutPrefix(query, "search=")
	if !ok || q.HasPlus || strings.Contains(text, "&") {
		return "", false
	}
	return q.searching(text)
}

// asked returns the search that Lynx asks a proxy for, with the words in the query alone. It is no redirect to that
// search: Lynx would write the tab of its URL as a question mark again.
func (q request) asked() request {
	_, query, found := strings.Cut(q.uri.String(), "?")
	if !found || q.Type != typeSearch || q.HasSearch || strings.HasPrefix(query, "search=") {
		return q
	}
	location, ok := q.searching(query)
	if !ok {
		return q
	}
	search, err := uri.Parse(location)
	if err != nil {
		return q
	}
	if with, err := newRequest(search); err == nil {
		return with
	}
	return q
}

// searching returns the URI of the search with the words in a query, or that of the search alone where there are none.
func (q request) searching(query string) (string, bool) {
	words, err := url.QueryUnescape(query)
	if err != nil {
		return "", false
	}
	before, _, _ := strings.Cut(q.uri.String(), "?")
	before, _, _ = strings.Cut(before, encodedTab)
	words = strings.TrimSpace(strings.Map(spaced, words))
	if words == "" {
		return before, true
	}
	location := valid(before + encodedTab + escape(words))
	return location, location != ""
}

// spaced makes spaces of the characters that would end the words.
func spaced(r rune) rune {
	if isControl(r) {
		return ' '
	}
	return r
}
