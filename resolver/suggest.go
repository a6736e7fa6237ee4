package resolver

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// maxSuggestions limits the result of Suggest.
const maxSuggestions = 5

// Suggest returns URIs that a text which is no URI probably means, best first: URIs within it, other spellings
// of it, a name without "urn:", or one with a typo in its NID. Canonical accepts all of them.
func (n Names) Suggest(text string) []string {
	var found []string
	try := func(candidate string) {
		if candidate != text && len(found) < maxSuggestions && !slices.Contains(found, candidate) &&
			n.accepts(candidate) {
			found = append(found, candidate)
		}
	}
	if joined := strings.Join(strings.Fields(text), ""); joined != text {
		if try(n.withColons(text)); len(found) == 0 {
			try(joined)
		}
	}
	if try(uri.EncodeRawName(text)); len(found) > 0 {
		return found // a URI within the text is only the beginning of the name
	}
	for _, f := range uri.Extract(text, uri.ExtractOptions{}) {
		try(f.URI.String())
	}
	if u, ok := n.Identifiers.URI(text); ok {
		try(u.String())
	}
	n.respell(text, try)
	name, rest := text, ""
	if nid, nss, ok := strings.Cut(strings.TrimPrefix(text, "urn:"), ":"); ok {
		name, rest = strings.ToLower(nid), nss
	}
	if _, known := n.Set.Lookup(name); known {
		try("urn:" + name + ":" + rest)
		return found
	}
	for _, nid := range n.Set.NIDs() {
		if isNear(name, nid) {
			try("urn:" + nid + ":" + rest)
		}
	}
	return found
}

// respell tries the spellings of a text, as URIs and as identifiers of another form.
func (n Names) respell(text string, try func(candidate string)) {
	for _, one := range spellings(text) {
		try(one)
		if u, ok := n.Identifiers.URI(one); ok {
			try(u.String())
		}
	}
}

// withColons returns a text that begins with "urn" and the NID of a known namespace with colons for its spaces,
// or "" for other texts.
func (n Names) withColons(text string) string {
	rest, ok := cutURN(text)
	if !ok {
		return ""
	}
	joined := strings.Join(strings.Fields(rest), ":")
	nid, _, _ := strings.Cut(joined, ":")
	if _, known := n.Set.Lookup(strings.ToLower(nid)); !known {
		return ""
	}
	return "urn:" + joined
}

// DidYouMean returns URIs that a text probably means, best first, if the text is a URI of a scheme that is not
// resolved: the result of Suggest, and the URN of a namespace without "urn:", even if it breaks the rules of
// the namespace.
func (n Names) DidYouMean(text string) []string {
	found := n.Suggest(text)
	if nid, _, ok := strings.Cut(text, ":"); ok {
		if _, known := n.Set.Lookup(nid); known {
			found = append(found, "urn:"+text)
		}
	}
	return found
}

// accepts reports whether a text is a URI that Canonical accepts, with a scheme that is resolved.
func (n Names) accepts(text string) bool {
	q, err := ParseQuery(text, I2L)
	if err != nil || CheckScheme(q.URI) != nil && !q.IsURN() {
		return false
	}
	_, err = n.Canonical(q)
	return err == nil
}

// isNear reports whether a and b differ by at most one typo: a letter replaced, left out, added, or exchanged
// with its neighbour.
func isNear(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || len(a) < 2 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return i < len(a) && (a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:])
}
