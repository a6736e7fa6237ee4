package answer

import (
	"slices"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

// choose returns the location to redirect a client to, and the Vary field of the choice.
// Of the locations whose server is not failing it is the one that the client accepts best,
// and of equal ones the first, which the resolver prefers.
func (a *Responder) choose(lines httpmessage.Lines, locations []resolver.Location) (chosen resolver.Location, vary string) {
	if len(locations) == 1 {
		return locations[0], ""
	}
	byType := slices.ContainsFunc(locations, func(l resolver.Location) bool { return l.From.Type != "" })
	byLanguage := slices.ContainsFunc(locations, func(l resolver.Location) bool { return l.From.Language != "" })
	switch {
	case !byType && !byLanguage: // most namespaces: there is nothing to weigh
		working := slices.IndexFunc(locations, func(l resolver.Location) bool { return !a.config.Failing(l.URI) })
		return locations[max(working, 0)], ""
	case byType && byLanguage:
		vary = "Accept, Accept-Language"
	case byType:
		vary = "Accept"
	case byLanguage:
		vary = "Accept-Language"
	}
	return a.best(lines, locations), vary
}

// Choice returns the location to redirect a client to, whatever it accepts, and false where that decides, or there is none.
func (a *Responder) Choice(locations []resolver.Location) (location string, ok bool) {
	if len(locations) == 0 {
		return "", false
	}
	if record := locations[0].From.Record; record != nil && record.IsChoice {
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

// best returns the location whose type and language together the client accepts best, of
// those whose server is not failing.
func (a *Responder) best(lines httpmessage.Lines, locations []resolver.Location) resolver.Location {
	working := slices.ContainsFunc(locations, func(l resolver.Location) bool { return !a.config.Failing(l.URI) })
	accept := parseAccept(lines)
	languages := parseLanguages(lines)
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

// InOrder returns at most limit locations in the order in which they are tried: first the
// one to which the client would be redirected. Of none there is none.
func (a *Responder) InOrder(lines httpmessage.Lines, locations []resolver.Location, limit int) []resolver.Location {
	if len(locations) == 0 {
		return nil
	}
	first, _ := a.choose(lines, locations)
	ordered := []resolver.Location{first}
	for _, l := range locations {
		if l != first {
			ordered = append(ordered, l)
		}
	}
	return ordered[:min(len(ordered), limit)]
}
