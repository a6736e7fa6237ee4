package rules

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// ValidationFields returns the fields of a request whether a stored response, or which of
// several variants, is still right: RFC 9111 section 4.3.1. The conditions of the client are not in
// it: they are evaluated with the result.
func ValidationFields[V Variant](request httpmessage.Fields, candidates []V) httpmessage.Fields {
	header := Unconditional(request)
	var tags []string
	for _, v := range candidates {
		if s := v.Rules(); s.ETag != "" && !slices.Contains(tags, s.ETag) && len(tags) < maxTags {
			tags = append(tags, s.ETag)
		}
	}
	if len(tags) > 0 {
		header.Set(IfNoneMatch, strings.Join(tags, ", "))
	}
	// Other variants may have the same time.
	if s := candidates[0].Rules(); len(candidates) == 1 && s.Matches(request.Lines) && s.Modified != 0 {
		header.Set(IfModifiedSince, s.Fields.Value("Last-Modified"))
	}
	return header
}

// maxTags bounds the entity tags of one validation.
const maxTags = 8

// Unconditional returns a copy of fields without those of conditions and ranges.
func Unconditional(request httpmessage.Fields) httpmessage.Fields {
	return Without(request, IfNoneMatch, IfModifiedSince, IfRange, "Range")
}

// WithoutConditions returns a copy of fields without what can be answered by 304.
func WithoutConditions(request httpmessage.Fields) httpmessage.Fields {
	return Without(request, IfNoneMatch, IfModifiedSince)
}

// UpdatedFields returns the fields of a stored response with those of a 304, or of the response
// to HEAD, which replace them: RFC 9111 section 3.2. A weak entity tag does not become strong: the
// content is not that of the strong one, byte by byte, where the origin has encoded it (nginx). An
// update without Date is of the time that it is received at: RFC 9110 section 6.6.1.
func UpdatedFields(before, update httpmessage.Fields) httpmessage.Fields {
	replaced := make([]string, 0, len(update)+1)
	replaced = append(replaced, "Date")
	for _, f := range update {
		if !f.Is("Content-Length") && !f.Is("Content-Range") {
			replaced = append(replaced, f.Name)
		}
	}
	fields := append(Without(before, replaced...), Without(update, "Content-Length", "Content-Range")...)
	tag, newTag := before.Value("Etag"), update.Value("Etag")
	if tag != "" && !Strong(tag) && Strong(newTag) && opaque(tag) == opaque(newTag) {
		fields.Set("Etag", tag)
	}
	return fields
}

// Validated returns the stored response that a 304 says is still right, of those that were nominated;
// the zero value for none: RFC 9111 section 4.3.4.
func Validated[V Variant](update httpmessage.Fields, nominated []V) (valid V) {
	tag := update.Value("Etag")
	for _, v := range nominated {
		s := v.Rules()
		if tag != "" && s.ETag != "" {
			if s.ETag == tag || (!Strong(tag) || !Strong(s.ETag)) && opaque(s.ETag) == opaque(tag) {
				return v
			}
			continue
		}
		modified := update.Lines("Last-Modified")
		same := len(modified) > 0 && modified[0] == s.Fields.Value("Last-Modified")
		if len(nominated) == 1 && (same || len(modified) == 0 && !Strong(tag)) {
			return v
		}
	}
	return valid
}
