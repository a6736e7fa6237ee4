package route

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/uri"
)

// PathNamespaces is the path of the list of namespaces. A slash and an NID follow for the page of one namespace.
const PathNamespaces = "/namespaces"

// Namespaces is a page about URN namespaces.
type Namespaces struct {
	NID string // the namespace of the page, "" for the list
	// Search is a text contained in the identifiers or documents of the list, After the identifier after
	// which the list begins; "" for all.
	Search, After string
}

// parseNamespaces parses /namespaces, /namespaces?q=...&after=... and /namespaces/NID, and reports whether
// the target is one of them. Other targets below may be mistyped identifiers.
func parseNamespaces(target string) (Target, bool) {
	rest, ok := strings.CutPrefix(target, PathNamespaces)
	if !ok {
		return Target{}, false
	}
	path, query, _ := strings.Cut(rest, "?")
	t := Target{Form: FormNamespaces, Language: languageOf(query)}
	if path == "" {
		t.Namespaces = &Namespaces{Search: searchOf(query, "q"), After: searchOf(query, "after")}
		return t, true
	}
	nid, ok := strings.CutPrefix(path, "/")
	if !ok || uri.CheckNID(nid) != nil {
		return Target{}, false
	}
	t.Namespaces = &Namespaces{NID: nid}
	return t, true
}

// searchOf returns a form parameter, "" if it cannot be decoded or is too long for a namespace.
func searchOf(query, name string) string {
	const most = 100 // bytes, decoded
	raw, _ := rawParameter(query, name)
	text, err := url.QueryUnescape(raw)
	if err != nil || len(text) > most {
		return ""
	}
	return text
}
