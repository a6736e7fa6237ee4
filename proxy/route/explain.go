package route

import "strings"

// PathExplain is the path at which a name is resolved once more, to show how: the JSON document of PathResolve, and a page for browsers.
const PathExplain = "/api/v1/explain"

// IsAPI reports whether a path is one at which programs ask: errors are problem documents there, also where a library sends an Accept
// for pages.
func IsAPI(path string) bool { return strings.HasPrefix(path, "/api/") }

// explained returns a target at which the steps of a resolution are asked for, which are a page for browsers, in a language: programs in
// browsers may ask for another format.
func explained(r Target, target string) Target {
	_, query, _ := strings.Cut(target, "?")
	r.Explains, r.Language = true, languageOf(query)
	r.Format, _ = parameter(query, "format")
	return r
}
