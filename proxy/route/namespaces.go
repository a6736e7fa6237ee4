package route

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/uri"
)

// PathNamespaces is the path of the list of namespaces; behind it and a slash is the identifier of one.
const PathNamespaces = "/namespaces"

// Namespaces is a page about namespaces.
type Namespaces struct {
	NID string // of the page of one, "" for the list
	// Search is what the identifiers or documents of a list have in them, and After the identifier behind which it begins; "" for all.
	Search, After string
}

// parseNamespaces parses /namespaces, /namespaces?q=...&after=... and /namespaces/NID, and reports whether a target is one of them: any
// other may be what a person meant otherwise.
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

// searchOf returns a parameter as forms send it, "" for what is no text or too long to be that of a namespace.
func searchOf(query, name string) string {
	const most = 100 // octets, decoded
	raw, _ := rawParameter(query, name)
	text, err := url.QueryUnescape(raw)
	if err != nil || len(text) > most {
		return ""
	}
	return text
}
