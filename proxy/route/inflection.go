package route

import (
	"strings"

	"github.com/urnd/urnd/resolver"
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
