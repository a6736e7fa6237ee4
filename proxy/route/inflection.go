package route

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Inflection is what is behind an ARK to ask for its description: draft-kunze-ark-42 section 5.2.
type Inflection uint8

// The inflections. The zero value is none.
const (
	NotInflected Inflection = iota
	Brief                   // "?", of before that draft: what the ARK names
	Full                    // "?info", and "??" of before: also what the site commits itself to
)

// inflect makes a question about an ARK of the registry with an inflection one for its description. The name is that without the inflection,
// as it is without any query (section 3.2), and ARKs of others keep it on the way to their resolvers.
func (t *Target) inflect(names resolver.Names) {
	query, has := t.Query.URI.Query()
	if !has || t.Query.Service != resolver.I2L || t.Identified || t.Format != "" || !t.isDirect() {
		return
	}
	switch query {
	case "":
		t.Inflection = Brief
	case "?", "info":
		t.Inflection = Full
	default:
		return
	}
	if !strings.EqualFold(t.Query.URI.Scheme(), "ark") || !names.Owns(t.Query.URI) {
		t.Inflection = NotInflected
		return
	}
	t.Query.Service = resolver.I2C
}

// isDirect reports whether the target is the identifier itself, and names no service besides.
func (t *Target) isDirect() bool {
	return t.Form == FormPath || t.Form == FormTarget || t.Form == FormHost
}

// inflected returns the URI that the table of identifiers has for an ARK with a query, such as an inflection, which the resolver that it leads to gets: the
// query is no part of the identifier. It has none where the URI of the table has a query of its own.
func inflected(t *Target, names resolver.Names) (uri.URI, bool) {
	query, has := t.Query.URI.Query()
	if !has || !strings.EqualFold(t.Query.URI.Scheme(), "ark") {
		return uri.URI{}, false
	}
	name, _, _ := strings.Cut(t.Query.URI.String(), "?")
	text, err := url.PathUnescape(name)
	if err != nil {
		return uri.URI{}, false
	}
	u, ok := names.Identifiers.URI(resolver.Pasted(text))
	if _, hasOwn := u.Query(); !ok || hasOwn {
		return uri.URI{}, false
	}
	u, err = uri.Parse(u.WithoutFragment().String() + "?" + query)
	return u, err == nil
}
