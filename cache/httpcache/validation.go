package httpcache

import (
	"net/http"
	"slices"
	"strings"
)

// validationHeader returns the header of a request that asks whether a stored response, or which of
// several variants, is still right: RFC 9111 section 4.3.1. The conditions of the client are not in
// it: they are evaluated with the result.
func validationHeader(request http.Header, candidates []*stored) http.Header {
	header := unconditional(request)
	var tags []string
	for _, s := range candidates {
		if s.etag != "" && !slices.Contains(tags, s.etag) && len(tags) < maxTags {
			tags = append(tags, s.etag)
		}
	}
	if len(tags) > 0 {
		header[ifNoneMatch] = []string{strings.Join(tags, ", ")}
	}
	if s := candidates[0]; len(candidates) == 1 && !s.modified.IsZero() {
		header[ifModifiedSince] = s.header["Last-Modified"][:1:1]
	}
	return header
}

// maxTags bounds the entity tags of one validation.
const maxTags = 8

// unconditional returns a header without the fields of conditions and ranges.
func unconditional(request http.Header) http.Header {
	header := make(http.Header, len(request)+2)
	for name, lines := range request {
		switch name {
		case ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, ifRange, "Range":
		default:
			header[name] = lines
		}
	}
	return header
}

// updatedFields returns the fields of a stored response with those of a 304, or of the response
// to HEAD, which replace them: RFC 9111 section 3.2.
func updatedFields(before, update http.Header) http.Header {
	header := make(http.Header, len(before)+len(update))
	for name, lines := range before {
		header[name] = lines
	}
	for name, lines := range update {
		if name != "Content-Length" && name != "Content-Range" {
			header[name] = lines
		}
	}
	return header
}

// validated returns the stored response that a 304 says is still right: RFC 9111 section 4.3.4.
// selected is the one that was to be validated, nil where it was one of all.
func validated(update http.Header, selected *stored, all []*stored) *stored {
	tag := update.Get("Etag")
	if selected != nil && (tag == "" || opaque(tag) == opaque(selected.etag) || selected.etag == "") {
		return selected
	}
	for _, s := range all {
		if !s.isPartial() && (s.etag == tag || tag == "" && len(all) == 1) {
			return s
		}
	}
	return nil
}
