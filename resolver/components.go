package resolver

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// Selected returns q with its SelectedService.
func (q Query) Selected() Query {
	q.Service = q.SelectedService()
	return q
}

// SelectedService returns the service that the directive "s" of the URN selects, or else the service of q
// (draft-ietf-urnbis-rfc2141bis-urn-03 section 2.3.1). Values are case-sensitive (section 2.3). Unknown values
// are ignored, and so is I=I, which needs a second URI.
func (q *Query) SelectedService() Service {
	selected := q.Service
	for _, d := range q.URN.Directives() {
		if d.Keyword != "s" {
			continue
		}
		if service, ok := ParseService(d.Value); ok && service != IisI && d.Value == service.String() {
			selected = service
		}
	}
	return selected
}

// resolutionParams returns the component of v for the resolution service: the r-component, or else the
// directive "c".
func resolutionParams(v uri.URN) string {
	if r, ok := v.R(); ok {
		return "?+" + r
	}
	for _, d := range v.Directives() {
		if d.Keyword == "c" {
			return componentPrefix + d.Value
		}
	}
	return ""
}

// withComponents returns locations with the q-component of the query as their query component (RFC 8141 section
// 2.3.2), and with its fragment (section 2.3.3, RFC 9110 section 10.2.2). Neither takes part in resolution, so
// neither is in the cache.
func withComponents(locations []Location, requested Query) []Location {
	if !requested.HasComponents() {
		return locations
	}
	completed := make([]Location, len(locations))
	for i, l := range locations {
		completed[i] = Location{URI: string(requested.AppendLocation(nil, l.URI)), From: l.From}
	}
	return completed
}

// HasComponents reports whether a query has components that are added to locations: see AppendLocation.
func (q Query) HasComponents() bool {
	_, hasQ := q.URN.Q()
	_, hasF := q.URI.Fragment()
	return hasQ || hasF
}

// AppendLocation appends location to dst, with the q-component and the fragment of the query. A fragment of the
// location has precedence.
func (q Query) AppendLocation(dst []byte, location string) []byte {
	base, fragment, hasFragment := strings.Cut(location, "#")
	dst = append(dst, base...)
	if component, ok := q.URN.Q(); ok {
		dst = append(append(dst, separator(base)...), component...)
	}
	if !hasFragment {
		fragment, hasFragment = q.URI.Fragment()
	}
	if hasFragment {
		dst = append(append(dst, '#'), fragment...)
	}
	return dst
}

// AddQuery returns a location with a query added before its fragment. If the location has a query already, the
// new one follows it.
func AddQuery(location, query string) string {
	base, fragment, hasFragment := strings.Cut(location, "#")
	joint := "&"
	if _, own, has := strings.Cut(base, "?"); !has {
		joint = "?"
	} else if own == "" || strings.HasSuffix(own, "&") {
		joint = ""
	}
	if hasFragment {
		fragment = "#" + fragment
	}
	return base + joint + query + fragment
}

// separator returns the delimiter in front of a q-component. The q-component becomes the query of a location,
// or is appended with "&" to an existing query unless that is empty. If the query is itself the URN, as in
// THTTP, it remains a q-component.
func separator(location string) string {
	_, query, ok := strings.Cut(location, "?")
	switch {
	case !ok:
		return "?"
	case query == "" || strings.HasSuffix(query, "&"):
		return ""
	case strings.HasPrefix(query, "urn:"):
		return "?="
	default:
		return "&"
	}
}
