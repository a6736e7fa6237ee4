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
	if s := candidates[0]; len(candidates) == 1 && s.matches(linesOf(request)) && !s.modified.IsZero() { // other variants may have the same time
		header[ifModifiedSince] = s.header["Last-Modified"][:1:1]
	}
	return header
}

// maxTags bounds the entity tags of one validation.
const maxTags = 8

// unconditional returns a header without the fields of conditions and ranges.
func unconditional(request http.Header) http.Header {
	header := withoutConditions(request)
	delete(header, ifRange)
	delete(header, "Range")
	return header
}

// withoutConditions returns a header without what can be answered by 304.
func withoutConditions(request http.Header) http.Header {
	header := make(http.Header, len(request)+2)
	for name, lines := range request {
		if name != ifNoneMatch && name != ifModifiedSince {
			header[name] = lines
		}
	}
	return header
}

// updatedFields returns the fields of a stored response with those of a 304, or of the response
// to HEAD, which replace them: RFC 9111 section 3.2. A weak entity tag does not become strong: the
// content is not that of the strong one, octet by octet, where the origin has encoded it (nginx). An
// update without Date is of the time that it is received at: RFC 9110 section 6.6.1.
func updatedFields(before, update http.Header) http.Header {
	header := make(http.Header, len(before)+len(update))
	for name, lines := range before {
		header[name] = lines
	}
	delete(header, "Date")
	for name, lines := range update {
		if name != "Content-Length" && name != "Content-Range" {
			header[name] = lines
		}
	}
	if tag := before.Get("Etag"); tag != "" && !isStrong(tag) && isStrong(update.Get("Etag")) && opaque(tag) == opaque(update.Get("Etag")) {
		header["Etag"] = before["Etag"]
	}
	return header
}

// validated returns the stored response that a 304 says is still right, of those that were nominated;
// nil for none: RFC 9111 section 4.3.4.
func validated(update http.Header, nominated []*stored) *stored {
	tag := update.Get("Etag")
	for _, s := range nominated {
		if tag != "" && s.etag != "" {
			if s.etag == tag || (!isStrong(tag) || !isStrong(s.etag)) && opaque(s.etag) == opaque(tag) {
				return s
			}
			continue
		}
		modified := update["Last-Modified"]
		isSame := len(modified) > 0 && modified[0] == s.header.Get("Last-Modified")
		if len(nominated) == 1 && (isSame || len(modified) == 0 && !isStrong(tag)) {
			return s
		}
	}
	return nil
}
