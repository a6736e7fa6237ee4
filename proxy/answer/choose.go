package answer

import (
	"net/http"
	"slices"

	"github.com/elnormous/contenttype"
	"golang.org/x/text/language"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
)

// choose returns the location to redirect a client to, and the Vary field of the choice.
// Of the locations whose server is not failing it is the one that the client accepts best,
// and of equal ones the first, which the resolver prefers.
func (a *Responder) choose(header http.Header, locations []resolver.Location) (chosen resolver.Location, vary string) {
	if len(locations) == 1 {
		return locations[0], ""
	}
	candidates := filterOrAll(locations, func(l resolver.Location) bool { return !a.config.Failing(l.URI) })
	if slices.ContainsFunc(candidates, func(l resolver.Location) bool { return l.From.Type != "" }) {
		candidates, vary = acceptedTypes(header, candidates), "Accept"
	}
	if slices.ContainsFunc(candidates, func(l resolver.Location) bool { return l.From.Language != "" }) {
		candidates = acceptedLanguages(header, candidates)
		if vary != "" {
			vary += ", "
		}
		vary += "Accept-Language"
	}
	return candidates[0], vary
}

// acceptedTypes returns the locations of the media type that the client accepts best
// (RFC 9110 section 12.5.1): where it accepts none, those of which no type is known.
func acceptedTypes(header http.Header, locations []resolver.Location) []resolver.Location {
	var types []contenttype.MediaType
	for _, l := range locations {
		if l.From.Type != "" {
			types = append(types, contenttype.NewMediaType(l.From.Type))
		}
	}
	best, err := accepted(header, types)
	return filterOrAll(locations, func(l resolver.Location) bool {
		if err != nil {
			return l.From.Type == ""
		}
		return l.From.Type != "" && contenttype.NewMediaType(l.From.Type).Equal(best)
	})
}

// acceptedLanguages returns the locations in the language that the client accepts best
// (RFC 9110 section 12.5.4, RFC 4647 section 3.4).
func acceptedLanguages(header http.Header, locations []resolver.Location) []resolver.Location {
	preferred, _, err := language.ParseAcceptLanguage(message.List(header, "Accept-Language"))
	if err != nil || len(preferred) == 0 {
		return locations
	}
	var names []string
	var tags []language.Tag
	for _, l := range locations {
		if l.From.Language != "" {
			names = append(names, l.From.Language)
			tags = append(tags, language.Make(l.From.Language))
		}
	}
	_, i, confidence := language.NewMatcher(tags).Match(preferred...)
	return filterOrAll(locations, func(l resolver.Location) bool {
		if confidence == language.No {
			return l.From.Language == ""
		}
		return l.From.Language == names[i]
	})
}

// InOrder returns at most limit locations in the order in which they are tried: first the
// one to which the client would be redirected.
func (a *Responder) InOrder(header http.Header, locations []resolver.Location, limit int) []resolver.Location {
	first, _ := a.choose(header, locations)
	ordered := []resolver.Location{first}
	for _, l := range locations {
		if l != first {
			ordered = append(ordered, l)
		}
	}
	return ordered[:min(len(ordered), limit)]
}

// filterOrAll returns the locations that are good, or all where none is.
func filterOrAll(locations []resolver.Location, good func(resolver.Location) bool) []resolver.Location {
	bad := func(l resolver.Location) bool { return !good(l) }
	if !slices.ContainsFunc(locations, bad) {
		return locations
	}
	var found []resolver.Location
	for _, l := range locations {
		if good(l) {
			found = append(found, l)
		}
	}
	if len(found) == 0 {
		return locations
	}
	return found
}
