package httpcache

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// validationHeader returns the header of a request that asks whether a stored response, or which of
// several variants, is still right: RFC 9111 section 4.3.1. The conditions of the client are not in
// it: they are evaluated with the result.
func validationHeader[V variant](request httpmessage.Fields, candidates []V) httpmessage.Fields {
	header := unconditional(request)
	var tags []string
	for _, v := range candidates {
		if s := v.rules(); s.etag != "" && !slices.Contains(tags, s.etag) && len(tags) < maxTags {
			tags = append(tags, s.etag)
		}
	}
	if len(tags) > 0 {
		header.Set(ifNoneMatch, strings.Join(tags, ", "))
	}
	if s := candidates[0].rules(); len(candidates) == 1 && s.matches(request.Lines) && s.modified != 0 { // other variants may have the same time
		header.Set(ifModifiedSince, s.header.Value("Last-Modified"))
	}
	return header
}

// maxTags bounds the entity tags of one validation.
const maxTags = 8

// unconditional returns a copy of fields without those of conditions and ranges.
func unconditional(request httpmessage.Fields) httpmessage.Fields {
	return without(request, ifNoneMatch, ifModifiedSince, ifRange, "Range")
}

// withoutConditions returns a copy of fields without what can be answered by 304.
func withoutConditions(request httpmessage.Fields) httpmessage.Fields {
	return without(request, ifNoneMatch, ifModifiedSince)
}

// updatedFields returns the fields of a stored response with those of a 304, or of the response
// to HEAD, which replace them: RFC 9111 section 3.2. A weak entity tag does not become strong: the
// content is not that of the strong one, octet by octet, where the origin has encoded it (nginx). An
// update without Date is of the time that it is received at: RFC 9110 section 6.6.1.
func updatedFields(before, update httpmessage.Fields) httpmessage.Fields {
	replaced := make([]string, 0, len(update)+1)
	replaced = append(replaced, "Date")
	for _, f := range update {
		if !f.Is("Content-Length") && !f.Is("Content-Range") {
			replaced = append(replaced, f.Name)
		}
	}
	fields := append(without(before, replaced...), without(update, "Content-Length", "Content-Range")...)
	if tag := before.Value("Etag"); tag != "" && !isStrong(tag) && isStrong(update.Value("Etag")) && opaque(tag) == opaque(update.Value("Etag")) {
		fields.Set("Etag", tag)
	}
	return fields
}

// validated returns the stored response that a 304 says is still right, of those that were nominated;
// the zero value for none: RFC 9111 section 4.3.4.
func validated[V variant](update httpmessage.Fields, nominated []V) (valid V) {
	tag := update.Value("Etag")
	for _, v := range nominated {
		s := v.rules()
		if tag != "" && s.etag != "" {
			if s.etag == tag || (!isStrong(tag) || !isStrong(s.etag)) && opaque(s.etag) == opaque(tag) {
				return v
			}
			continue
		}
		modified := update.Lines("Last-Modified")
		isSame := len(modified) > 0 && modified[0] == s.header.Value("Last-Modified")
		if len(nominated) == 1 && (isSame || len(modified) == 0 && !isStrong(tag)) {
			return v
		}
	}
	return valid
}
