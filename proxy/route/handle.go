package route

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// PathHandles is the beginning of the paths of handles, as the proxies of the Handle System have it (Handle.net technical manual, chapter 14).
const PathHandles = "/api/handles/"

// HandlePrefix says that handles with a prefix are names: what follows the slash of such a handle follows Names.
type HandlePrefix struct{ Prefix, Names string }

// Handles says which handles are names of the registry. Empty, there is no API of handles.
type Handles []HandlePrefix

// Of returns the handle that a canonical name is, "" for none.
func (h Handles) Of(name string) string {
	for _, of := range h {
		if rest, ok := strings.CutPrefix(name, of.Names); ok && rest != "" {
			if decoded, err := url.PathUnescape(rest); err == nil {
				return of.Prefix + "/" + decoded
			}
		}
	}
	return ""
}

// handleTarget returns what follows PathHandles in a target. ok is false where that is none of handles.
func (h Handles) handleTarget(target string) (rest string, ok bool) {
	if len(h) == 0 {
		return "", false
	}
	return strings.CutPrefix(target, PathHandles)
}

// parse parses a handle, percent-encoded, and the parameters behind it. Only names that the registry is asked for are handles.
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
					Kind: resolver.ErrNotFound, Reason: "the registry is not asked for names of this prefix",
					Code: "registry_not_asked",
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

// plainOfHandles are the characters of handles that names have as they are, besides unreserved ones: those of paths (RFC 3986 section 3.3). How a
// client encodes a handle makes no difference.
const plainOfHandles = "!$&'()*+,;=:@/"

var ruleHandle = uri.Rule{Code: "handle", Name: "handle", Section: "RFC 3651 section 2", Says: "a handle is a prefix, a slash and more, percent-encoded in UTF-8"}
