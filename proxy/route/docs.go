package route

import "strings"

// PathDocs is the path of the documentation of the API. A slash and a slug follow for the page of a group of
// operations.
const PathDocs = "/docs"

// Docs is a page of the documentation of the API.
type Docs struct {
	Slug string // of a group of operations, "" for the index
}

// parseDocs parses /docs and /docs/SLUG, and reports whether the target is one of them.
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

// isSlug reports whether a text is valid as the last segment of the path of a page.
func isSlug(text string) bool {
	const most = 40 // bytes
	return text != "" && len(text) <= most && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
