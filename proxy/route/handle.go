package route

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// PathHandles is the prefix of the paths of handles, as in the proxies of the Handle System (Handle.net
// technical manual, chapter 14).
const PathHandles = "/api/handles/"

// HandlePrefix maps the handles with a prefix to names: the suffix of the handle is appended to Names.
type HandlePrefix struct{ Prefix, Names string }

// Handles are the handles that are names of the registry. If it is empty, there is no API of handles.
type Handles []HandlePrefix

// Find returns the handle of a canonical name, "" for none.
func (h Handles) Find(name string) string {
	for _, of := range h {
		if rest, ok := strings.CutPrefix(name, of.Names); ok && rest != "" {
			if decoded, err := url.PathUnescape(rest); err == nil {
				return of.Prefix + "/" + decoded
			}
		}
	}
	return ""
}

// handleTarget returns the part of a target after PathHandles. ok is false if the target is not that of a handle.
func (h Handles) handleTarget(target string) (rest string, ok bool) {
	if len(h) == 0 {
		return "", false
	}
	return strings.CutPrefix(target, PathHandles)
}

// parse parses a percent-encoded handle and the parameters after it. The name must be a URN, or owned by the
// registry.
func (h Handles) parse(text string, names resolver.Names) (Target, error) {
	text, values, _ := strings.Cut(text, "?")
	t := Target{Form: FormHandle, Values: values}
	decoded, err := url.PathUnescape(text)
	if err != nil || !utf8.ValidString(decoded) {
		return t, missing(PathHandles+text, ruleHandle)
	}
	t.Handle = decoded
	prefix, suffix, _ := strings.Cut(decoded, "/")
	if prefix == "" || suffix == "" {
		return t, missing(PathHandles+text, ruleHandle)
	}
	for _, of := range h {
		if strings.EqualFold(prefix, of.Prefix) {
			t.Query, err = resolver.ParseQuery(of.Names+uri.Escape(suffix, plainOfHandles), resolver.I2Ls)
			if err == nil && !t.Query.IsURN() && !names.Owns(t.Query.URI) {
				err = &resolver.Negative{
					Kind: resolver.ErrNotFound, Reason: "the registry is not queried for names with this prefix",
					Code: "registry_not_queried",
				}
			}
			return t, err
		}
	}
	return t, &resolver.Negative{
		Kind: resolver.ErrNotFound, Reason: "there are no handles with this prefix here",
		Code: "handle_of_others",
	}
}

// plainOfHandles are the characters of handles, besides unreserved ones, that are not percent-encoded in
// names: those of paths (RFC 3986 section 3.3). So the encoding that the client uses makes no difference.
const plainOfHandles = "!$&'()*+,;=:@/"

var ruleHandle = uri.Rule{
	Code: "handle", Name: "handle", Section: "RFC 3651 section 2",
	Requirement: "a handle is a prefix, a slash and more, percent-encoded in UTF-8",
}
