package httpcache

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// response is what is known of a stored response, but its content. It is immutable where it is shared.
type response struct {
	status int
	reason string
	// spelling is Request.Spelling.
	spelling string
	header   httpmessage.Fields // shared: never written to
	// selectors are what the response was selected by, in the order of their names.
	selectors []selector
	directives
	etag     string // "" for none
	modified second // Last-Modified
	date     second // Date, or when it was received
	// received is when the response was, and initialAge its age then.
	received   time.Time
	initialAge time.Duration
	freshness
	// part is the part of the representation that is stored; length is that of the whole, -1 if unknown.
	part   span
	length int64
	from   netip.AddrPort
	// purged is whether it must be validated before it is used: a soft purge, or an invalidation.
	purged bool
	// validatedOnly are those of the fields that are sent only after a validation: no-cache with names; nil for none, as nearly always.
	validatedOnly *[]string
}

// validatedOnly returns names for record.validatedOnly.
func validatedOnly(names []string) *[]string {
	if len(names) == 0 {
		return nil
	}
	return &names
}

// age returns the age of a stored response: RFC 9111 section 4.2.3. The time that it was stored is
// the greater one of two: a monotonic clock, which does not see a wall clock that is set back, may
// stand still while the machine sleeps.
func (s *response) age(now time.Time) time.Duration {
	resident := max(now.Sub(s.received), now.Round(0).Sub(s.received.Round(0)), 0)
	return s.initialAge + min(resident, longest)
}

// longest bounds ages and lifetimes, so that no sum of them overflows: RFC 9111 section 1.2.2.
const longest = (1<<31 - 1) * time.Second

// ttl returns how long it is still fresh; it is negative for a stale one.
func (s *response) ttl(now time.Time) time.Duration { return s.lifetime - s.age(now) }

// isPartial reports whether only a part of the representation is stored.
func (s *response) isPartial() bool { return s.status == http.StatusPartialContent }

// hasValidator reports whether it can be validated: RFC 9110 section 8.8.
func (s *response) hasValidator() bool { return s.etag != "" || s.modified != 0 }

// isStrong reports whether an entity tag is a strong validator: RFC 9110 section 8.8.3.
func isStrong(etag string) bool { return strings.HasPrefix(etag, `"`) }

// fields returns the fields that are sent of a stored response. validated is whether the origin has just said
// that it is right.
func (s *response) fields(isValidated bool) httpmessage.Fields {
	if s.validatedOnly == nil || isValidated {
		return s.header
	}
	return without(s.header, *s.validatedOnly...)
}

// isUseful reports whether a response could be used later.
func (s *response) isUseful() bool { return s.explicit || s.lifetime > 0 || s.hasValidator() }

// replaces reports whether the same requests select a response and an older one.
func (s *response) replaces(other *response) bool {
	if s.spelling != other.spelling || !slices.EqualFunc(s.selectors, other.selectors, selector.selectsSame) {
		return false
	}
	switch {
	case !s.isPartial():
		return true
	case other.isPartial():
		return !s.isBeside(other)
	default: // a part does not replace the whole that it is a part of
		return s.etag != other.etag
	}
}

// reasonOf returns the words of the status of a response, in memory that is not that of the response.
func reasonOf(response *httpmessage.Response) string {
	if text := http.StatusText(response.Status); text == response.Reason {
		return text
	}
	return strings.Clone(response.Reason)
}

// newResponse returns what is known of a response that has arrived, in memory of its own; false for a part whose place is not known.
func newResponse(
	spelling string, request httpmessage.Fields, got *httpmessage.Response, control control, heuristic Heuristic, at arrival,
) (s response, ok bool) {
	var fields [24]httpmessage.Field
	header := storedFields(fields[:0], got.Fields, control.Directives)
	date, ok := parseDate(got.Fields.Value("Date"))
	if !ok {
		date = at.received.Truncate(time.Second)
		dated := header.Clone()
		dated.Set("Date", at.received.UTC().Format(http.TimeFormat)) // RFC 9110 section 6.6.1
		header = dated
	}
	s = response{
		status: got.Status, reason: reasonOf(got), spelling: strings.Clone(spelling), header: compacted(header), date: secondOf(date),
		selectors: selectorsOf(got.Fields, request), received: at.received, length: got.ContentLength, from: got.From,
	}
	s.etag = s.header.Value("Etag")
	modified, _ := dateOf(s.header.Lines("Last-Modified"))
	s.modified = secondOf(modified)
	var names []string
	s.directives, names = directivesOf(control.Directives)
	s.validatedOnly = validatedOnly(namesIn(s.header, names))
	s.freshness = freshnessOf(got.Status, got.Fields, control, date, heuristic)
	s.initialAge = initialAge(got.Fields, date, at.requested, at.received)
	s.part = span{0, s.length}
	if s.isPartial() {
		s.part, s.length, ok = contentRange(got.Fields)
		return s, ok
	}
	return s, true
}

// arrival is when a request was sent, and when the header of its response came.
type arrival struct{ requested, received time.Time }
