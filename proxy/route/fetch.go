package route

import (
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// PathFetch is the path at which urnd retrieves a URI for a client: /fetch?uri=gopher://example.org/.
const PathFetch = "/fetch"

// FetchTarget returns the target of this server that retrieves a URI.
func FetchTarget(u string) string { return PathFetch + "?uri=" + url.QueryEscape(u) }

// FetchTargetIn is FetchTarget with the language that the reader has chosen, "" for none.
func FetchTargetIn(u, language string) string {
	if language == "" {
		return FetchTarget(u)
	}
	return FetchTarget(u) + "&lang=" + url.QueryEscape(language)
}

// CrossSiteFetchTarget is FetchTarget for a URI that another server redirects to: it needs user activation.
func CrossSiteFetchTarget(u string) string { return FetchTarget(u) + "&led" }

// parseFetch parses /fetch?uri=.... If the URI is percent-encoded as a whole, as HTML forms send it, the
// words of search=... are appended to it: so a form works without a script. Otherwise the URI is all that
// follows "uri=": its own query may have several parameters.
func parseFetch(target string) (Target, error) {
	query := strings.TrimPrefix(target, PathFetch)
	text, ok := parameter(query, "uri")
	own := query // the parameters that are not part of the URI
	if _, unencoded := unencodedURI(query); unencoded {
		own, _, _ = strings.Cut("&"+strings.TrimPrefix(query, "?"), "&uri=")
	}
	language := languageOf(own)
	if !ok || text == "" {
		return Target{Form: FormFetch, Language: language}, missing(target, ruleParameter)
	}
	if rest, ok := unencodedURI(query); ok {
		text = resolver.TrimPasted(rest)
	} else {
		text = resolver.TrimPasted(formText(query, text))
		words, _ := rawParameter(query, "search")
		decoded, err := url.QueryUnescape(words)
		if err != nil {
			return Target{Form: FormFetch, Language: language}, missing(target, ruleParameter)
		}
		text += encoded(decoded)
	}
	q, err := typedQuery(text, resolver.I2R)
	if err == nil && !q.IsURN() {
		err = q.URI.Check()
	}
	_, crossSite := rawParameter(query, "led")
	return Target{
		Form: FormFetch, Text: text, Query: q, CrossSiteRedirect: crossSite, Sort: sortOf(query),
		Language: language,
	}, err
}

// sortOf returns the requested order of a listing, "" for the order of the listing itself.
func sortOf(query string) string {
	order, _ := rawParameter(query, "sort")
	if _, unencoded := unencodedURI(query); unencoded ||
		!slices.Contains([]string{SortName, SortSize, SortTime}, order) {
		return ""
	}
	return order
}

// The orders of a listing at /fetch, by its parameter sort. Sizes and times are in descending order.
const (
	SortName = "name"
	SortSize = "size"
	SortTime = "time"
)

// unencodedURI returns the URI of the parameter uri with all that follows, percent-decoded once like every
// parameter, if the colon after its scheme is not encoded.
func unencodedURI(query string) (text string, ok bool) {
	raw, _ := rawParameter(query, "uri")
	before, _, ok := strings.Cut(raw, ":")
	if !ok || strings.Contains(strings.ToLower(before), "%3a") {
		return "", false
	}
	_, rest, _ := strings.Cut("&"+strings.TrimPrefix(query, "?"), "&uri=")
	if decoded, err := url.PathUnescape(rest); err == nil {
		rest = decoded
	}
	return rest, true
}

// encoded percent-encodes all bytes of words but the unreserved ones (RFC 3986 section 2.3).
func encoded(words string) string { return strings.ReplaceAll(url.QueryEscape(words), "+", "%20") }

// SendsCommands reports whether servers of the URI's scheme may interpret lines of text in a URL as commands:
// all schemes but those of the web, of local files, and those that urnd explains and does not retrieve.
func SendsCommands(u uri.URI) bool {
	return !slices.Contains([]string{
		"http", "https", "file", "telnet", "tn3270", "rlogin", "ftps", "gemini", "mailto",
		"prospero",
	}, strings.ToLower(u.Scheme()))
}
