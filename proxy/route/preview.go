package route

import (
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Preview is whether a target requests the page about a name instead of the redirect to its location.
type Preview uint8

// The previews. The zero value is none.
const (
	NoPreview   Preview = iota
	PreviewName         // the target is a query for the name by I2C
	// PreviewIfUnknown is for a target that may be a name itself: it requests the page only if that name is
	// unknown. See Target.PreviewTarget.
	PreviewIfUnknown
)

// The suffixes of a name that request its page. The query cannot be a component of a URN, which has "+" or
// "=" after its "?" (RFC 8141 section 2), nor a part of an ARK (draft-kunze-ark-42 section 3.2). Names that
// are web addresses may have it, and any name may end with "+".
const (
	previewQuery = "preview"
	previewMark  = "+"
)

// formatPage is the name of the format of pages.
const formatPage = "html"

// previewURN makes a target that is invalid because of its query a request for the page about a URN.
func (a *Request) previewURN(v *RequestHead) {
	name, ok := strings.CutSuffix(a.Path, "?"+previewQuery)
	if !ok || !a.Target.isDirect() || a.Target.Typed {
		return
	}
	var t Target
	err := t.parse(name, v.Scratch)
	if err == nil && t.isDirect() && !t.Typed && t.Query.IsURN() && t.Query.Service == resolver.I2L {
		t.page()
		a.Target, a.Err = t, nil
	}
}

// page makes a target a request for the page about its name.
func (t *Target) page() {
	t.Query.Service, t.Format, t.Preview = resolver.I2C, formatPage, PreviewName
}

// preview sets Preview of a valid target that requests the page about a name, or may do so.
func (t *Target) preview(names resolver.Names) {
	u := t.Query.URI
	query, hasQuery := u.Query()
	isQuery := hasQuery && query == previewQuery
	isMark := !hasQuery && strings.HasSuffix(u.String(), previewMark)
	if !isQuery && !isMark || t.Query.Service != resolver.I2L || t.Identified || t.Typed || t.Format != "" ||
		!t.isDirect() {
		return
	}
	switch {
	case !t.Query.IsURN() && !names.Owns(u):
	case isQuery && strings.EqualFold(u.Scheme(), "ark"):
		t.page()
	default:
		t.Preview = PreviewIfUnknown
	}
}

// PreviewTarget returns the request for the page about the name without its suffix, for a target with
// PreviewIfUnknown; ok is false if there is no valid name.
func (t *Target) PreviewTarget() (page Target, ok bool) {
	text := t.Query.URI.String()
	name, ok := strings.CutSuffix(text, "?"+previewQuery)
	if !ok {
		name, ok = strings.CutSuffix(text, previewMark)
	}
	if !ok || t.Preview != PreviewIfUnknown {
		return Target{}, false
	}
	u, err := uri.Parse(name)
	if err != nil {
		return Target{}, false
	}
	q, err := resolver.NewQuery(u, resolver.I2C)
	if err != nil {
		return Target{}, false
	}
	q.Hops, q.Client = t.Query.Hops, t.Query.Client
	page = *t
	page.Query = q
	page.page()
	return page, true
}
