package route

import "strings"

// PathExplain is the path that resolves a name and shows the steps: as the JSON document of PathResolve, and
// as a page for browsers.
const PathExplain = "/api/v1/explain"

// IsAPI reports whether a path belongs to the API: its errors are problem documents (RFC 9457), even if a
// client library sends an Accept that prefers HTML.
func IsAPI(path string) bool { return strings.HasPrefix(path, "/api/") }

// explained makes r a target of PathExplain. Its response is a page for browsers, in the language of the
// query; scripts in browsers may request another format.
func explained(r Target, target string) Target {
	_, query, _ := strings.Cut(target, "?")
	r.Explains, r.Language = true, languageOf(query)
	r.Format, _ = parameter(query, "format")
	return r
}
