package rules

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Response is the metadata of a stored response, without its content. It is immutable while shared.
type Response struct {
	Status int
	Reason string
	// Spelling is the spelling of the request URI, "" for the normal one.
	Spelling string
	Fields   httpmessage.Fields // shared, never written to
	// Selectors are the request fields that selected the response, sorted by name.
	Selectors []Selector
	Directives
	ETag     string // "" for none
	Modified Second // Last-Modified
	Date     Second // Date, or the time of receipt
	// Received is when the response was received, and InitialAge its age at that time.
	Received   time.Time
	InitialAge time.Duration
	Freshness
	// Part is the stored part of the representation; Length is the length of the whole, -1 if unknown.
	Part       Span
	Length     int64
	ServerAddr netip.AddrPort
	// Purged is whether it must be validated before use: after a soft purge or an invalidation.
	Purged bool
	// SetsCookies is whether it came with Set-Cookie, which usually is not stored in Fields: see Override.
	SetsCookies bool
	// ValidatedOnly are the names of the fields that are sent only after a validation: no-cache with names. It
	// is nil for none, as in nearly all responses.
	ValidatedOnly *[]string
}

// ValidatedOnly returns names for Response.ValidatedOnly, nil for none.
func ValidatedOnly(names []string) *[]string {
	if len(names) == 0 {
		return nil
	}
	return &names
}

// Age returns the age of a stored response: RFC 9111 section 4.2.3. The resident time is the greater of the
// wall clock's and the monotonic clock's: the wall clock may be set back, and the monotonic clock may stand
// still while the machine sleeps.
func (s *Response) Age(now time.Time) time.Duration {
	resident := max(now.Sub(s.Received), now.Round(0).Sub(s.Received.Round(0)), 0)
	return s.InitialAge + min(resident, MaxLifetime)
}

// MaxLifetime limits ages and lifetimes, so that their sums do not overflow: RFC 9111 section 1.2.2.
const MaxLifetime = (1<<31 - 1) * time.Second

// TTL returns how long the response is still fresh; it is negative for a stale response.
func (s *Response) TTL(now time.Time) time.Duration { return s.Lifetime - s.Age(now) }

// Partial reports whether only a part of the representation is stored.
func (s *Response) Partial() bool { return s.Status == http.StatusPartialContent }

// HasValidator reports whether the response can be validated: RFC 9110 section 8.8.
func (s *Response) HasValidator() bool { return s.ETag != "" || s.Modified != 0 }

// Strong reports whether an entity tag is a strong validator: RFC 9110 section 8.8.3.
func Strong(etag string) bool { return strings.HasPrefix(etag, `"`) }

// FieldsToSend returns the fields to send with a stored response. validated is whether the origin has just validated
// it.
func (s *Response) FieldsToSend(validated bool) httpmessage.Fields {
	if s.ValidatedOnly == nil || validated {
		return s.Fields
	}
	return Without(s.Fields, *s.ValidatedOnly...)
}

// Reusable reports whether a response could be reused later.
func (s *Response) Reusable() bool { return s.Explicit || s.Lifetime > 0 || s.HasValidator() }

// Replaces reports whether s replaces an older response: the same requests select both, and s covers it.
func (s *Response) Replaces(other *Response) bool {
	if s.Spelling != other.Spelling || !slices.EqualFunc(s.Selectors, other.Selectors, Selector.selectsSame) {
		return false
	}
	switch {
	case !s.Partial():
		return true
	case other.Partial():
		return !s.Coexists(other)
	default: // a part does not replace its whole
		return s.ETag != other.ETag
	}
}

// reasonOf returns the reason phrase of a response, without retaining the memory of the response.
func reasonOf(response *httpmessage.Response) string {
	if text := http.StatusText(response.Status); text == response.Reason {
		return text
	}
	return strings.Clone(response.Reason)
}

// NewResponse returns the metadata of a received response in its own memory; false for a part with an unknown
// position.
func NewResponse(
	spelling string, request httpmessage.Fields, got *httpmessage.Response, control Control, heuristic Heuristic,
	at Arrival,
) (s Response, ok bool) {
	var fields [24]httpmessage.Field
	header := storedFields(fields[:0], got.Fields, control.Directives)
	date, ok := ParseDate(got.Fields.Get("Date"))
	if !ok {
		date = at.Received.Truncate(time.Second)
		dated := header.Clone()
		dated.Set("Date", at.Received.UTC().Format(http.TimeFormat)) // RFC 9110 section 6.6.1
		header = dated
	}
	s = Response{
		Status: got.Status, Reason: reasonOf(got), Spelling: strings.Clone(spelling),
		Selectors: SelectorsOf(got.Fields, request), Received: at.Received, Length: got.ContentLength,
		ServerAddr: got.RemoteAddr,
	}
	s.SetFields(header)
	s.Date = NewSecond(date)
	var names []string
	s.Directives, names = directivesOf(control)
	s.SetsCookies = control.SetsCookies
	s.ValidatedOnly = ValidatedOnly(namesIn(s.Fields, names))
	s.Freshness = freshnessOf(got.Status, got.Fields, control, date, heuristic)
	s.InitialAge = initialAge(got.Fields, date, at.Requested, at.Received)
	s.Part = Span{0, s.Length}
	if s.Partial() {
		s.Part, s.Length, ok = ParseContentRange(got.Fields)
		return s, ok
	}
	return s, true
}

// SetFields sets the fields of a response, copied to their own memory, and the validators that they contain.
func (s *Response) SetFields(fields httpmessage.Fields) {
	s.Fields = Compact(fields)
	s.ETag = s.Fields.Get("Etag")
	modified, _ := dateOf(s.Fields.Values("Last-Modified"))
	s.Modified = NewSecond(modified)
}

// Arrival is when a request was sent, and when the header of its response was received.
type Arrival struct{ Requested, Received time.Time }

// Second is a time parsed from an HTTP-date, in seconds; 0 is none. It needs a third of the memory of a
// time.Time, and has no pointer for the garbage collector to follow.
type Second int64

// beforeDates is the Unix time of the second before the first HTTP-date, at the beginning of the year 1.
const beforeDates = -62135596801

// NewSecond returns the second that contains t, 0 for the zero value.
func NewSecond(t time.Time) Second {
	if t.IsZero() {
		return 0
	}
	return Second(t.Unix() - beforeDates)
}

// Time returns the beginning of the second, the zero value for none.
func (s Second) Time() time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(int64(s)+beforeDates, 0).UTC()
}
