package rules

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// heuristicStatuses are the statuses that may be stored without explicit freshness: RFC 9110
// section 15.1.
var heuristicStatuses = [...]int{
	http.StatusOK, http.StatusNonAuthoritativeInfo, http.StatusNoContent, http.StatusPartialContent,
	http.StatusMultipleChoices, http.StatusMovedPermanently, http.StatusPermanentRedirect,
	http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusRequestURITooLong,
	http.StatusNotImplemented,
}

// Freshness is how long a response is fresh, and who says so.
type Freshness struct {
	Lifetime time.Duration
	Explicit bool // by the origin, not by a heuristic
}

// freshnessOf returns the freshness lifetime of a response for a shared cache: RFC 9111 section
// 4.2.1. For a targeted field Expires does not count (RFC 9213 section 2.1). date is when the response was made.
func freshnessOf(status int, header httpmessage.Fields, directives Control, date time.Time, h Heuristic) Freshness {
	if lifetime, ok := directives.Seconds("s-maxage"); ok {
		return Freshness{lifetime, true}
	}
	if lifetime, ok := directives.Seconds("max-age"); ok {
		return Freshness{lifetime, true}
	}
	if lines := header.Lines("Expires"); len(lines) > 0 && !directives.Targeted {
		// An invalid one, such as "0", is in the past; so is one of several lines: RFC 9111 section
		// 5.3.
		expires, ok := ParseDate(lines[0])
		if !ok || len(lines) > 1 {
			return Freshness{0, true}
		}
		return Freshness{min(max(expires.Sub(date), 0), Longest), true}
	}
	return Freshness{Lifetime: h.lifetime(status, header, directives.Directives, date)}
}

// Heuristic makes a freshness lifetime where an origin gives none: RFC 9111 section 4.2.2.
type Heuristic struct {
	// Fraction of the time since the last modification; 0 makes none.
	Fraction float64
	// Most bounds the lifetime.
	Most time.Duration
}

func (h Heuristic) lifetime(
	status int, header httpmessage.Fields, directives cachecontrol.Directives, date time.Time,
) time.Duration {
	if !slices.Contains(heuristicStatuses[:], status) && !directives.Has("public") {
		return 0
	}
	modified, ok := ParseDate(header.Value("Last-Modified"))
	if !ok || modified.After(date) {
		return 0
	}
	return max(min(time.Duration(h.Fraction*float64(date.Sub(modified))), h.Most), 0)
}

// ParseDate parses an HTTP-date in one of its three formats: RFC 9110 section 5.6.7. Names of days
// are not compared with the date.
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

// ageOf parses Age: RFC 9111 section 5.1. An invalid value is ignored, of several the first
// counts.
func ageOf(header httpmessage.Fields) time.Duration {
	lines := header.Lines("Age")
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

// initialAge returns the age of a response when it was received: RFC 9111 section 4.2.3.
func initialAge(header httpmessage.Fields, date, requested, received time.Time) time.Duration {
	apparent := max(received.Sub(date), 0)
	corrected := ageOf(header) + min(max(received.Sub(requested), 0), Longest)
	return min(max(apparent, corrected), Longest)
}
