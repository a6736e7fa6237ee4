package answer

import (
	"slices"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

// choose returns the location to redirect a client to, and the value of Vary. Of the locations whose server
// is not failing, it is the one that the client prefers; of equal ones, it is the first, which the resolver
// prefers.
func (a *Responder) choose(
	header httpmessage.Header, locations []resolver.Location,
) (chosen resolver.Location, vary string) {
	if len(locations) == 1 {
		return locations[0], ""
	}
	byType := slices.ContainsFunc(locations, func(l resolver.Location) bool { return l.From.Type != "" })
	byLanguage := slices.ContainsFunc(locations, func(l resolver.Location) bool { return l.From.Language != "" })
	switch {
	case !byType && !byLanguage: // most namespaces: nothing to negotiate
		working := slices.IndexFunc(locations, func(l resolver.Location) bool { return !a.config.Failing(l.URI) })
		return locations[max(working, 0)], ""
	case byType && byLanguage:
		vary = "Accept, Accept-Language"
	case byType:
		vary = "Accept"
	case byLanguage:
		vary = "Accept-Language"
	}
	return a.best(header, locations), vary
}

// Choice returns the location to redirect any client to; ok is false if the choice depends on the request, or
// there is no location.
func (a *Responder) Choice(locations []resolver.Location) (location string, ok bool) {
	if len(locations) == 0 {
		return "", false
	}
	if record := locations[0].From.Record; record != nil && record.Negotiable {
		return "", false
	}
	if len(locations) > 1 {
		for i := range locations {
			if from := locations[i].From; from.Type != "" || from.Language != "" {
				return "", false
			}
		}
	}
	chosen, _ := a.choose(nil, locations)
	return chosen.URI, true
}

// best returns the location whose combination of type and language the client prefers, of those whose server
// is not failing.
func (a *Responder) best(header httpmessage.Header, locations []resolver.Location) resolver.Location {
	working := slices.ContainsFunc(locations, func(l resolver.Location) bool { return !a.config.Failing(l.URI) })
	accept := parseAccept(header)
	languages := parseLanguages(header)
	var best resolver.Location
	most := -1.0
	for _, l := range locations {
		if working && a.config.Failing(l.URI) {
			continue
		}
		if q := accept.quality(l.From.Type) * languages.quality(l.From.Language); q > most {
			best, most = l, q
		}
	}
	return best
}

// InOrder returns at most limit locations in the order in which they are tried: the first is the one to which
// the client would be redirected. It returns nil for no locations.
func (a *Responder) InOrder(header httpmessage.Header, locations []resolver.Location, limit int) []resolver.Location {
	if len(locations) == 0 {
		return nil
	}
	first, _ := a.choose(header, locations)
	ordered := []resolver.Location{first}
	for _, l := range locations {
		if l != first {
			ordered = append(ordered, l)
		}
	}
	return ordered[:min(len(ordered), limit)]
}
