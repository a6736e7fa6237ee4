package answer

import (
	"net/http"
	"slices"

	"github.com/elnormous/contenttype"
	"golang.org/x/text/language"

	"github.com/urnd/urnd/resolver"
)

// choose returns the location to which a client is sent, and the fields of its request
// that decided on it. Of those that do not fail it is the one that the client accepts
// best; of equals it is the first, which the resolver prefers.
func (a *Answers) choose(header http.Header, locations []resolver.Location) (chosen resolver.Location, vary string) {
	if len(locations) == 1 {
		return locations[0], ""
	}
	left := among(locations, func(l resolver.Location) bool { return !a.config.Failing(l.URI) })
	if slices.ContainsFunc(left, func(l resolver.Location) bool { return l.From.Type != "" }) {
		left, vary = acceptedTypes(header, left), "Accept"
	}
	if slices.ContainsFunc(left, func(l resolver.Location) bool { return l.From.Language != "" }) {
		left = acceptedLanguages(header, left)
		if vary != "" {
			vary += ", "
		}
		vary += "Accept-Language"
	}
	return left[0], vary
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
	best, _, err := contenttype.GetAcceptableMediaTypeFromHeader(header.Get("Accept"), types)
	return among(locations, func(l resolver.Location) bool {
		if err != nil {
			return l.From.Type == ""
		}
		return l.From.Type != "" && contenttype.NewMediaType(l.From.Type).Equal(best)
	})
}

// acceptedLanguages returns the locations in the language that the client accepts best
// (RFC 9110 section 12.5.4, RFC 4647 section 3.4).
func acceptedLanguages(header http.Header, locations []resolver.Location) []resolver.Location {
	asked, _, err := language.ParseAcceptLanguage(header.Get("Accept-Language"))
	if err != nil || len(asked) == 0 {
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
	_, i, confidence := language.NewMatcher(tags).Match(asked...)
	return among(locations, func(l resolver.Location) bool {
		if confidence == language.No {
			return l.From.Language == ""
		}
		return l.From.Language == names[i]
	})
}

// InOrder returns at most limit locations in the order in which they are tried: the one
// to which the client would be sent goes first.
func (a *Answers) InOrder(header http.Header, locations []resolver.Location, limit int) []resolver.Location {
	first, _ := a.choose(header, locations)
	ordered := []resolver.Location{first}
	for _, l := range locations {
		if l != first {
			ordered = append(ordered, l)
		}
	}
	return ordered[:min(len(ordered), limit)]
}

// among returns the locations that are good, and all where none is.
func among(locations []resolver.Location, good func(resolver.Location) bool) []resolver.Location {
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
