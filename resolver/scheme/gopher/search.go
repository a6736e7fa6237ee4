package gopher

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// searchForm returns the search form for a search item without words: RFC 1436 section 3.7.2. No server is
// contacted.
func searchForm(q request) *scheme.Listing {
	return &scheme.Listing{
		Kind: scheme.KindMenu, Title: title(q), URI: q.plain(), Parent: parent(q),
		Search: &scheme.Search{Label: "Words to search for", Prefix: q.plain() + encodedTab},
	}
}

// submitted returns the URI of a search submitted by an HTML form, which puts the words into a query,
// "?search=words", after the prefix of the search or instead of it. In the path a "?" of a selector is
// percent-encoded in all links of urnd, so the two are not confused.
func (q request) submitted() (string, bool) {
	_, query, _ := strings.Cut(q.uri.String(), "?")
	text, ok := strings.CutPrefix(query, "search=")
	if !ok || q.HasPlus || strings.Contains(text, "&") {
		return "", false
	}
	return q.searching(text)
}

// requested returns the search that Lynx requests from a proxy, with the words as the whole query. It is not
// redirected to that search: Lynx would replace the tab of its URL by a question mark again.
func (q request) requested() request {
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

// searching returns the URI of the search with the words in a query, or that of the form if there are none.
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

// spaced maps control characters, which would end the words, to spaces.
func spaced(r rune) rune {
	if isControl(r) {
		return ' '
	}
	return r
}
