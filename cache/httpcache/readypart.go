package httpcache

import (
	"net/http"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Part is what the answer to a GET with a range has of the content of a stored response: RFC 9110 section 14.2. The zero value is all
// of it.
type Part struct {
	// Status is 206 (Partial Content), or 416 (Range Not Satisfiable) for nothing of it; 0 for all of it.
	Status int
	span   span
}

// Length returns the number of octets of a Part with status 206.
func (p Part) Length() int64 { return p.span.length() }

// Part returns what of the content answers a request by its fields Range and If-Range, where it is not unmodified; false where Serve has
// to decide: about several ranges, and about a response that is said to be a part itself.
func (r Ready) Part(method string, request httpmessage.Lines) (part Part, ok bool) {
	s, lines := r.response, request("Range")
	if len(lines) != 1 || method != http.MethodGet || s.status != http.StatusOK || !s.rangeApplies(request.Value(ifRange)) {
		return Part{}, true
	}
	set, isOfOctets := octetRanges(lines[0])
	if set = trimSpace(set); !isOfOctets || set == "" {
		return Part{}, true
	}
	if strings.Contains(set, ",") || s.header.Has("Content-Range") {
		return Part{}, false
	}
	switch one, isSatisfiable, isValid := parseRange(set, s.length); {
	case !isValid:
		return Part{}, true
	case !isSatisfiable:
		return Part{Status: http.StatusRequestedRangeNotSatisfiable}, true
	default:
		return Part{http.StatusPartialContent, one}, true
	}
}

// AppendBlocks appends a Part with status 206 of the content to dst, which must not be changed; false where it is not in memory.
func (r Ready) AppendBlocks(dst [][]byte, p Part) (content [][]byte, ok bool) {
	all, ok := blocksIn(r.response.content)
	return all.appendPart(dst, p.span), ok
}

// AppendContentRange appends the value of Content-Range in the answer that has a Part: RFC 9110 section 14.4.
func (r Ready) AppendContentRange(dst []byte, p Part) []byte {
	if p.Status == http.StatusRequestedRangeNotSatisfiable {
		return appendUnsatisfied(dst, r.response.length)
	}
	return appendContentRange(dst, p.span, r.response.length)
}
