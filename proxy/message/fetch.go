package message

import (
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// PathFetch is the path at which urnd retrieves a URI for a client: /fetch?uri=gopher://example.org/.
const PathFetch = "/fetch"

// Fetched returns the target of this server at which a URI is retrieved.
func Fetched(u string) string { return PathFetch + "?uri=" + url.QueryEscape(u) }

// isRetrieved reports whether a URI without authority is retrieved where a proxy is asked for it, and is
// no identifier: by the gateways to news and files, and where its parts are explained.
func isRetrieved(u uri.URI) bool {
	return slices.Contains([]string{"news", "file", "mailto"}, strings.ToLower(u.Scheme()))
}

// parseFetch parses /fetch?uri=..., in which search=... appends words to the URI: so a form without a
// script asks a question.
func parseFetch(target string) (Request, error) {
	query := strings.TrimPrefix(target, PathFetch)
	text, ok := parameter(query, "uri")
	if !ok || text == "" {
		return Request{Form: FormFetch}, missing(target, ruleParameter)
	}
	text = resolver.Pasted(formText(query, text))
	if words, ok := rawParameter(query, "search"); ok {
		decoded, err := url.QueryUnescape(words)
		if err != nil {
			return Request{Form: FormFetch}, missing(target, ruleParameter)
		}
		text += url.PathEscape(decoded)
	}
	q, err := typedQuery(text, resolver.I2R)
	if err == nil && !q.IsURN() {
		err = q.URI.Check()
	}
	return Request{Form: FormFetch, Text: text, Query: q}, err
}
