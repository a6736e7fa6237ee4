package httpcache

import (
	"net/http"
	"slices"

	"github.com/urnd/urnd/internal/httpmessage"
)

// sameRepresentation reports whether two responses have the same strong validator: RFC 9110
// section 15.3.7.3.
func (s *response) sameRepresentation(other *response) bool {
	if other.purged || s.length != other.length && s.length >= 0 && other.length >= 0 {
		return false
	}
	return s.etag != "" && isStrong(s.etag) && s.etag == other.etag
}

// isBeside reports whether the same requests select two parts, which are of one representation, as far as their validators
// say, and do not touch. Each answers requests for what it has; without a strong validator nothing is combined.
func (s *response) isBeside(other *response) bool {
	isSelected := s.isPartial() && other.isPartial() && slices.EqualFunc(s.selectors, other.selectors, selector.selectsSame)
	isSame := s.etag == other.etag && s.modified == other.modified && s.length == other.length && !other.purged
	return isSelected && (isSame || s.sameRepresentation(other)) && !s.part.touches(other.part)
}

// restHeader returns the header of a request for what is missing behind a stored part. Where the
// representation is another one by now the origin sends all of it: RFC 9110 section 13.1.5.
func restHeader(request httpmessage.Fields, s *response) httpmessage.Fields {
	header := unconditional(request)
	header.Set("Range", "bytes="+itoa(s.part.end)+"-")
	header.Set(ifRange, s.etag)
	return header
}

// complete makes a response whose part is the whole one of the whole.
func (s *response) complete() {
	s.header = without(s.header, "Content-Range", "Content-Length")
	s.status, s.reason = http.StatusOK, ""
}
