package httpcache

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// span is a part of a representation, from its first octet up to end, which is not in it.
type span struct{ start, end int64 }

func (p span) length() int64 { return p.end - p.start }

func (p span) contains(other span) bool { return p.start <= other.start && other.end <= p.end }

// touches reports whether two parts overlap or follow each other.
func (p span) touches(other span) bool { return p.start <= other.end && other.start <= p.end }

// maxRanges bounds the ranges of a request: for more the whole is sent, RFC 9110 section 14.2.
const maxRanges = 16

// ranges are what a request asks for of a representation.
type ranges struct {
	spans         []span
	unsatisfiable bool // RFC 9110 section 15.5.17
}

// rangesOf parses Range for a representation: RFC 9110 section 14.1.2. It returns none where the
// field is invalid, or of another unit: it is ignored then (section 14.2).
func rangesOf(r *httpmessage.Request, length int64) ranges {
	lines := r.Fields.Lines("Range")
	if len(lines) != 1 || r.Method != http.MethodGet {
		return ranges{}
	}
	set, ok := octetRanges(lines[0])
	if !ok {
		return ranges{}
	}
	var all ranges
	asked := 0
	for text := range strings.SplitSeq(set, ",") {
		if text = trimSpace(text); text == "" {
			continue
		}
		part, satisfiable, valid := parseRange(text, length)
		if asked++; !valid || asked > maxRanges {
			return ranges{}
		}
		if satisfiable {
			all.spans = append(all.spans, part)
		}
	}
	all.unsatisfiable = asked > 0 && len(all.spans) == 0
	return all
}

// octetRanges returns the set of ranges of a Range field whose unit is octets: RFC 9110 section 14.2.
func octetRanges(line string) (set string, ok bool) {
	unit, set, ok := strings.Cut(line, "=")
	return set, ok && strings.EqualFold(trimSpace(unit), "bytes")
}

// parseRange parses one range of a representation.
func parseRange(text string, length int64) (part span, satisfiable, valid bool) {
	first, last, ok := strings.Cut(text, "-")
	if !ok {
		return span{}, false, false
	}
	if first == "" { // the last octets
		n, ok := parsePosition(last)
		if !ok {
			return span{}, false, false
		}
		return span{max(length-n, 0), length}, n > 0 && length > 0, true
	}
	start, ok := parsePosition(first)
	if !ok {
		return span{}, false, false
	}
	end := length
	if last != "" {
		n, ok := parsePosition(last)
		if !ok || n < start {
			return span{}, false, false
		}
		end = min(n+1, length)
	}
	return span{start, end}, start < length, true
}

// parsePosition parses digits; a number that is too large is the greatest.
func parsePosition(text string) (int64, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 63)
	if err != nil {
		n = 1<<62 - 1
	}
	return n, true
}

// contentRange parses Content-Range: RFC 9110 section 14.4. length is -1 where it is not known.
func contentRange(header httpmessage.Fields) (part span, length int64, ok bool) {
	rest, ok := strings.CutPrefix(header.Value("Content-Range"), "bytes ")
	if !ok {
		return span{}, 0, false
	}
	positions, total, ok := strings.Cut(rest, "/")
	first, last, isRange := strings.Cut(positions, "-")
	start, okFirst := parsePosition(first)
	end, okLast := parsePosition(last)
	if !ok || !isRange || !okFirst || !okLast || end < start {
		return span{}, 0, false
	}
	length = -1
	if total != "*" {
		if length, ok = parsePosition(total); !ok || end >= length {
			return span{}, 0, false
		}
	}
	return span{start, end + 1}, length, true
}

// contentRangeOf returns the value of Content-Range for a part.
func contentRangeOf(part span, length int64) string {
	return string(appendContentRange(nil, part, length))
}

// appendContentRange appends the value of Content-Range for a part.
func appendContentRange(dst []byte, part span, length int64) []byte {
	dst = strconv.AppendInt(append(dst, "bytes "...), part.start, 10)
	dst = append(strconv.AppendInt(append(dst, '-'), part.end-1, 10), '/')
	if length < 0 {
		return append(dst, '*')
	}
	return strconv.AppendInt(dst, length, 10)
}

// appendUnsatisfied appends the value of Content-Range where no range of a request is of a representation: RFC 9110 section 15.5.17.
func appendUnsatisfied(dst []byte, length int64) []byte {
	return strconv.AppendInt(append(dst, "bytes */"...), length, 10)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
