package rules

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// heuristicStatuses are the status codes that may be stored without explicit freshness: RFC 9110 section 15.1.
var heuristicStatuses = [...]int{
	http.StatusOK, http.StatusNonAuthoritativeInfo, http.StatusNoContent, http.StatusPartialContent,
	http.StatusMultipleChoices, http.StatusMovedPermanently, http.StatusPermanentRedirect,
	http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusRequestURITooLong,
	http.StatusNotImplemented,
}

// Freshness is the freshness lifetime of a response, and where it comes from.
type Freshness struct {
	Lifetime time.Duration
	Explicit bool // by the origin or Override.MinLifetime, not by a heuristic
	Source   Source
}

// Source is what a freshness lifetime was taken from; the zero value is none, with the lifetime 0.
type Source uint8

// The sources of a freshness lifetime: RFC 9111 sections 4.2.1 and 4.2.2.
const (
	SourceNone Source = iota
	SourceSMaxAge
	SourceMaxAge
	SourceExpires
	SourceHeuristic
	SourceOverride // Override.MinLifetime or MaxLifetime, if it changed the lifetime
	sources        // number of sources
)

// String returns the name of the directive or field, or "heuristic" or "override"; "" for the zero value.
func (s Source) String() string {
	if s >= sources {
		return ""
	}
	return [sources]string{"", "s-maxage", "max-age", "Expires", "heuristic", "override"}[s]
}

// freshnessOf returns the freshness lifetime of a response in a shared cache, by its fields (RFC 9111 section
// 4.2.1) and within the bounds of an override. date is when the response was generated.
func freshnessOf(status int, header httpmessage.Fields, control Control, date time.Time, h Heuristic) Freshness {
	return control.bounded(freshnessByFields(status, header, control, date, h))
}

// freshnessByFields is freshnessOf without an override. With a targeted field, Expires is ignored: RFC 9213
// section 2.1.
func freshnessByFields(
	status int, header httpmessage.Fields, directives Control, date time.Time, h Heuristic,
) Freshness {
	if lifetime, ok := directives.Seconds("s-maxage"); ok {
		return Freshness{lifetime, true, SourceSMaxAge}
	}
	if lifetime, ok := directives.Seconds("max-age"); ok {
		return Freshness{lifetime, true, SourceMaxAge}
	}
	if lines := header.Values("Expires"); len(lines) > 0 && !directives.Targeted {
		// An invalid value, such as "0", is in the past, and so are several lines: RFC 9111 section 5.3.
		expires, ok := ParseDate(lines[0])
		if !ok || len(lines) > 1 {
			return Freshness{0, true, SourceExpires}
		}
		return Freshness{min(max(expires.Sub(date), 0), MaxLifetime), true, SourceExpires}
	}
	if lifetime := h.lifetime(status, header, directives.Directives, date); lifetime > 0 {
		return Freshness{Lifetime: lifetime, Source: SourceHeuristic}
	}
	return Freshness{}
}

// Heuristic computes the freshness lifetime of responses without an explicit one: RFC 9111 section 4.2.2.
type Heuristic struct {
	// Fraction of the time since the last modification; 0 disables the heuristic.
	Fraction float64
	// MaxLifetime is the maximum lifetime.
	MaxLifetime time.Duration
}

func (h Heuristic) lifetime(
	status int, header httpmessage.Fields, directives cachecontrol.Directives, date time.Time,
) time.Duration {
	if !slices.Contains(heuristicStatuses[:], status) && !directives.Has("public") {
		return 0
	}
	modified, ok := ParseDate(header.Get("Last-Modified"))
	if !ok || modified.After(date) {
		return 0
	}
	return max(min(time.Duration(h.Fraction*float64(date.Sub(modified))), h.MaxLifetime), 0)
}

// ParseDate parses an HTTP-date in one of its three formats: RFC 9110 section 5.6.7. It does not check the name
// of the day against the date.
func ParseDate(text string) (time.Time, bool) {
	if n := len(text) - len(zone); n > 0 && text[n:] != zone && strings.EqualFold(text[n:], zone) {
		text = text[:n] + zone
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return time.Time{}, false
	}
	// ParseTime accepts more spaces and fewer digits than the grammar.
	_, date, hasDay := strings.Cut(text, " ")
	var scratch [32]byte
	for _, layout := range [...]string{"02 Jan 2006 15:04:05 GMT", "02-Jan-06 15:04:05 GMT", "Jan _2 15:04:05 2006"} {
		if hasDay && strings.EqualFold(string(at.UTC().AppendFormat(scratch[:0], layout)), date) {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

const zone = "GMT"

// ageOf parses Age: RFC 9111 section 5.1. An invalid value is ignored; the first of several values applies.
func ageOf(header httpmessage.Fields) time.Duration {
	lines := header.Values("Age")
	if len(lines) == 0 {
		return 0
	}
	first := lines[0]
	for i := range len(first) {
		if first[i] == ',' {
			first = first[:i]
			break
		}
	}
	return cachecontrol.DeltaSeconds(trimSpace(first))
}

// initialAge returns the age of a response when it was received (corrected_initial_age): RFC 9111 section
// 4.2.3.
func initialAge(header httpmessage.Fields, date, requested, received time.Time) time.Duration {
	apparent := max(received.Sub(date), 0)
	corrected := ageOf(header) + min(max(received.Sub(requested), 0), MaxLifetime)
	return min(max(apparent, corrected), MaxLifetime)
}
