package gs1

import (
	"mime"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Media types of linksets.
const (
	TypeLinkset = "application/linkset+json" // RFC 9264 section 4.2
	TypeJSON    = "application/json"
	TypeLD      = "application/ld+json"
	TypeHTML    = "text/html"
	typeXHTML   = "application/xhtml+xml"
)

const anyType = "*/*"

type accept []httpmessage.MediaRange

// maxLanguages limits the language ranges of a request that are used.
const maxLanguages = 20

// preferred returns the media range that a client prefers to all others, the first of equal ones; "" if it
// accepts only "*/*", or prefers any other type.
func (a accept) preferred() string {
	best, others := httpmessage.MediaRange{}, 0.0
	for _, r := range a {
		switch {
		case r.Type == anyType:
			others = r.Quality
		case r.Quality > best.Quality:
			best = r
		}
	}
	if best.Quality < others {
		return ""
	}
	if best.Type == typeXHTML {
		return TypeHTML
	}
	return best.Type
}

// score returns how well the media type of a link matches Accept; higher is better. An accepted type beats an
// unknown one, which beats a type that is not accepted.
func (a accept) score(mediaType string) float64 {
	const named, neutral, contradicts = 2, 1, 0
	kind, _, err := mime.ParseMediaType(mediaType)
	if len(a) == 0 || mediaType == "" || err != nil {
		return neutral
	}
	major, _, _ := strings.Cut(kind, "/")
	for _, pattern := range []string{kind, major + "/*", anyType} {
		i := slices.IndexFunc(a, func(r httpmessage.MediaRange) bool { return r.Type == pattern })
		switch {
		case i < 0:
		case a[i].Quality == 0:
			return contradicts
		case pattern == anyType:
			return neutral
		default:
			return named + a[i].Quality
		}
	}
	return contradicts
}

// parseLanguages returns the language ranges of Accept-Language in order of preference: RFC 9110 section
// 12.5.4.
func parseLanguages(field string) []string {
	type languageRange struct {
		tag string
		q   float64
	}
	var all []languageRange
	for element := range strings.SplitSeq(field, ",") {
		tag, parameters, _ := strings.Cut(strings.TrimSpace(element), ";")
		q, ok := httpmessage.ParseQuality(strings.TrimPrefix(strings.ReplaceAll(parameters, " ", ""), "q="))
		if tag = strings.ToLower(strings.TrimSpace(tag)); tag != "" && ok && q > 0 && len(all) < maxLanguages {
			all = append(all, languageRange{tag, q})
		}
	}
	slices.SortStableFunc(all, func(a, b languageRange) int {
		switch {
		case a.q > b.q:
			return -1
		case a.q < b.q:
			return 1
		default:
			return 0
		}
	})
	tags := make([]string, len(all))
	for i := range all {
		tags[i] = all[i].tag
	}
	return tags
}

// lookup returns the preferred one of some language tags in lower case: RFC 4647 section 3.4. A range without
// a match matches a more specific tag (section 3.3.1), as "de" matches "de-at", before the next range is
// tried. ok is false without a match.
func lookup(ranges, tags []string) (tag string, ok bool) {
	for _, r := range ranges {
		if r == "*" {
			return "", false // all are equal
		}
		for shorter := r; shorter != ""; shorter = truncated(shorter) {
			if slices.Contains(tags, shorter) {
				return shorter, true
			}
		}
		if i := slices.IndexFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, r+"-") }); i >= 0 {
			return tags[i], true
		}
	}
	return "", false
}

// truncated returns a range without its last subtag, and without a single-letter subtag before it: RFC 4647
// section 3.4.
func truncated(r string) string {
	i := strings.LastIndexByte(r, '-')
	if i < 0 {
		return ""
	}
	r = r[:i]
	if i := strings.LastIndexByte(r, '-'); i >= 0 && i == len(r)-2 {
		r = r[:i]
	}
	return r
}
