package scheme

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Precondition evaluates the preconditions of a request against the validators of the current representation,
// in the order of RFC 9110 section 13.2.2. It returns the response 412 or 304, or nil to continue. The entity
// tag may be "", and the time of modification zero. fields are those of the representation.
func Precondition(request, fields httpmessage.Fields, etag string, modified time.Time) *Resource {
	switch httpmessage.Precondition(request.Values, etag, modified) {
	case http.StatusPreconditionFailed:
		return failed(fields)
	case http.StatusNotModified:
		return &Resource{Response: httpmessage.Response{
			Status: http.StatusNotModified, Fields: fields,
			Body: http.NoBody,
		}}
	default:
		return nil
	}
}

// failed returns the response 412. It is not a representation, so it must not be stored.
func failed(fields httpmessage.Fields) *Resource {
	refused := httpmessage.NewFields("Content-Length", "0", "Cache-Control", "no-store")
	if etag := fields.Get("Etag"); etag != "" {
		refused.Add("Etag", etag)
	}
	return &Resource{Response: httpmessage.Response{
		Status: http.StatusPreconditionFailed, Fields: refused,
		Body: http.NoBody,
	}}
}

// Range is a part of a representation: Length bytes from the offset First.
type Range struct{ First, Length int64 }

// ParseRange returns the byte range that a GET requests of a representation with size bytes, this entity tag and
// time of modification. ok is false if the request has no single byte range, or its If-Range does not hold: the
// full representation is sent then (RFC 9110 section 14.2). A Range with Length 0 is not satisfiable: 416.
func ParseRange(r Request, size int64, etag string, modified time.Time) (part Range, ok bool) {
	text, isBytes := strings.CutPrefix(strings.ToLower(r.Fields.Get("Range")), "bytes=")
	if r.Method != http.MethodGet || !isBytes || strings.Contains(text, ",") ||
		!ifRange(r.Fields.Get("If-Range"), etag, modified) {
		return Range{}, false
	}
	first, last, found := strings.Cut(strings.TrimSpace(text), "-")
	if !found {
		return Range{}, false
	}
	if first == "" { // a suffix range
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

// ifRange reports whether If-Range permits a partial response: RFC 9110 section 13.1.5.
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

// Status returns the status 206 or 416, and sets Content-Range.
func (p Range) Status(fields *httpmessage.Fields, size int64) int {
	if p.Length == 0 {
		fields.Set("Content-Range", "bytes */"+strconv.FormatInt(size, 10))
		return http.StatusRequestedRangeNotSatisfiable
	}
	fields.Set("Content-Range",
		"bytes "+strconv.FormatInt(p.First, 10)+"-"+strconv.FormatInt(p.First+p.Length-1, 10)+"/"+
			strconv.FormatInt(size, 10))
	return http.StatusPartialContent
}
