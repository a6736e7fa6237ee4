package answer

import (
	"mime"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Qualities besides those of a client (RFC 9110 section 12.4.2), with which type and language are weighed
// together: that of an unknown property, and those of properties that are not accepted, which are still
// better than no location. A type that a program does not accept is worse than a language that its user does
// not read.
const (
	unknown         = 0.01
	refusedLanguage = 0.001
	refusedType     = 0.000001
)

// accept is a parsed Accept field; nil accepts all types equally.
type accept []httpmessage.MediaRange

func parseAccept(header httpmessage.Header) accept {
	return httpmessage.ParseAccept(header.List("Accept"))
}

// quality returns the quality of a media type: the most specific range applies. An unknown type, "", has the
// quality of "*/*", so that clients that accept everything do not avoid it.
func (a accept) quality(mediaType string) float64 {
	if len(a) == 0 {
		return 1
	}
	kind, _, err := mime.ParseMediaType(mediaType)
	if mediaType == "" || err != nil {
		i := slices.IndexFunc(a, func(r httpmessage.MediaRange) bool { return r.Type == "*/*" })
		if i < 0 {
			return unknown
		}
		return max(a[i].Quality, unknown)
	}
	major, _, _ := strings.Cut(kind, "/")
	for _, pattern := range []string{kind, major + "/*", "*/*"} {
		for _, element := range a {
			if element.Type == pattern {
				return max(element.Quality, refusedType)
			}
		}
	}
	return refusedType
}

// languages is a parsed Accept-Language field; without tags it accepts all languages equally.
type languages struct {
	tags []language.Tag
	q    []float32
}

func parseLanguages(header httpmessage.Header) languages {
	tags, q, err := language.ParseAcceptLanguage(header.List("Accept-Language"))
	if err != nil {
		return languages{}
	}
	n := min(len(tags), maxLanguages)
	return languages{tags[:n], q[:n]}
}

// anyLanguage is the tag that the library returns for "*".
var anyLanguage = language.Make("mul")

// quality returns the quality of a language, "" for an unknown one: RFC 9110 section 12.5.4, RFC 4647 section
// 3.4.
func (l languages) quality(tag string) float64 {
	if len(l.tags) == 0 {
		return 1
	}
	if tag == "" { // as for media types
		i := slices.Index(l.tags, anyLanguage)
		if i < 0 {
			return unknown
		}
		return max(float64(l.q[i]), unknown)
	}
	matcher := language.NewMatcher([]language.Tag{language.Make(tag)})
	best, matched, others := refusedLanguage, false, refusedLanguage
	for i, wanted := range l.tags {
		if wanted == anyLanguage {
			others = max(others, float64(l.q[i]))
			continue
		}
		if _, _, confidence := matcher.Match(wanted); confidence != language.No {
			matched = true
			best = max(best, float64(l.q[i])*likeness(confidence))
		}
	}
	if !matched { // "*" applies if no other range matches: RFC 9110 section 12.5.4
		return others
	}
	return best
}

// likeness is a factor that prefers an exact match to a language that is only understood, as Danish by
// readers of Norwegian.
func likeness(confidence language.Confidence) float64 {
	switch confidence {
	case language.Exact:
		return 1
	case language.High:
		return 0.9
	default:
		return 0.3
	}
}

// maxLanguages limits the languages of a client that are used: the first ones, which it prefers.
const maxLanguages = 20
