package route

import (
	"strings"

	"github.com/urnd/urnd/resolver"
)

// Inflection is the query of an ARK that requests its description: draft-kunze-ark-42 section 5.2.
type Inflection uint8

// The inflections. The zero value is none.
const (
	NoInflection    Inflection = iota
	InflectionBrief            // "?" of earlier drafts: a description of the identified object
	InflectionFull             // "?info", and "??" of earlier drafts: also the commitment of the site
)

// inflect changes a query for an ARK of the registry with an inflection into one for its description. The
// name excludes the inflection, as it excludes any query (section 3.2). ARKs of other servers keep it when
// they are redirected to their resolvers.
func (t *Target) inflect(names resolver.Names) {
	query, has := t.Query.URI.Query()
	if !has || t.Query.Service != resolver.I2L || t.Identified || t.Format != "" || !t.isDirect() {
		return
	}
	switch query {
	case "":
		t.Inflection = InflectionBrief
	case "?", "info":
		t.Inflection = InflectionFull
	default:
		return
	}
	if !strings.EqualFold(t.Query.URI.Scheme(), "ark") || !names.Owns(t.Query.URI) {
		t.Inflection = NoInflection
		return
	}
	t.Query.Service = resolver.I2C
}

// isDirect reports whether the target is the identifier itself, without the name of a service.
func (t *Target) isDirect() bool {
	return t.Form == FormPath || t.Form == FormTarget || t.Form == FormHost
}
