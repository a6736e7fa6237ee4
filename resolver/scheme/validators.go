package scheme

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Precondition evaluates the conditions of a request with the validators of the representation that it
// would get, in the order of RFC 9110 section 13.2.2, and returns the response in place of it: 412 or
// 304; nil for none. The entity tag may be "", and the time of modification zero. fields are those of
// the representation.
func Precondition(request, fields httpmessage.Fields, etag string, modified time.Time) *Resource {
	switch httpmessage.Precondition(request.Lines, etag, modified) {
	case http.StatusPreconditionFailed:
		return failed(fields)
	case http.StatusNotModified:
		return &Resource{Response: httpmessage.Response{Status: http.StatusNotModified, Fields: fields, Body: http.NoBody}}
	default:
		return nil
	}
}

// failed returns the response 412. It is no representation, and must not be stored as one.
func failed(fields httpmessage.Fields) *Resource {
	refused := httpmessage.FieldsOf("Content-Length", "0", "Cache-Control", "no-store")
	if etag := fields.Value("Etag"); etag != "" {
		refused.Add("Etag", etag)
	}
	return &Resource{Response: httpmessage.Response{Status: http.StatusPreconditionFailed, Fields: refused, Body: http.NoBody}}
}

// Range is a part of a representation: Length octets from First.
type Range struct{ First, Length int64 }

// RangeOf returns the part that a GET asks for, of a representation of size octets with this entity tag
// and time of modification. ok is false where it asks for all, for several parts, or by a condition that does not
// hold: all is sent then (RFC 9110 section 14.2). A Range with Length 0 is one that there is not: 416.
func RangeOf(r Request, size int64, etag string, modified time.Time) (part Range, ok bool) {
	text, isBytes := strings.CutPrefix(strings.ToLower(r.Fields.Value("Range")), "bytes=")
	if r.Method != http.MethodGet || !isBytes || strings.Contains(text, ",") || !ifRange(r.Fields.Value("If-Range"), etag, modified) {
		return Range{}, false
	}
	first, last, found := strings.Cut(strings.TrimSpace(text), "-")
	if !found {
		return Range{}, false
	}
	if first == "" { // the last octets
		n, err := strconv.ParseUint(last, 10, 63)
		if err != nil {
			return Range{}, false
		}
		length := min(int64(n), size)
		return Range{size - length, length}, true
	}
	from, err := strconv.ParseUint(first, 10, 63)
	if err != nil {
		return Range{}, false
	}
	end := size - 1
	if last != "" {
		to, err := strconv.ParseUint(last, 10, 63)
		if err != nil || to < from {
			return Range{}, false
		}
		end = min(end, int64(to))
	}
	return Range{int64(from), max(end-int64(from)+1, 0)}, true
}

// ifRange reports whether If-Range allows a part: RFC 9110 section 13.1.5.
func ifRange(condition, etag string, modified time.Time) bool {
	if condition == "" {
		return true
	}
	if strings.HasPrefix(condition, `"`) {
		return condition == etag
	}
	at, err := http.ParseTime(condition)
	return err == nil && !modified.IsZero() && at.Equal(modified.Truncate(time.Second))
}

// Status returns the status of a response with a part, and sets its fields.
func (p Range) Status(fields *httpmessage.Fields, size int64) int {
	if p.Length == 0 {
		fields.Set("Content-Range", "bytes */"+strconv.FormatInt(size, 10))
		return http.StatusRequestedRangeNotSatisfiable
	}
	fields.Set("Content-Range", "bytes "+strconv.FormatInt(p.First, 10)+"-"+strconv.FormatInt(p.First+p.Length-1, 10)+"/"+strconv.FormatInt(size, 10))
	return http.StatusPartialContent
}
