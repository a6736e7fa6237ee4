package route

import "strings"

// PathDocs is the path of the pages about the API; behind it and a slash is the page of a group of operations.
const PathDocs = "/docs"

// Docs is a page about the API.
type Docs struct {
	Slug string // of the page of a group, "" for the index
}

// parseDocs parses /docs and /docs/SLUG, and reports whether a target is one of them.
func parseDocs(target string) (Target, bool) {
	rest, ok := strings.CutPrefix(target, PathDocs)
	if !ok {
		return Target{}, false
	}
	path, query, _ := strings.Cut(rest, "?")
	t := Target{Form: FormDocs, Language: languageOf(query), Docs: new(Docs)}
	if path == "" {
		return t, true
	}
	slug, ok := strings.CutPrefix(path, "/")
	if !ok || !isSlug(slug) {
		return Target{}, false
	}
	t.Docs.Slug = slug
	return t, true
}

// isSlug reports whether a text may be the last segment of the path of a page.
func isSlug(text string) bool {
	const most = 40 // octets
	return text != "" && len(text) <= most && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
