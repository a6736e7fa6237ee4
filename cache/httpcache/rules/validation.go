package rules

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// ValidationFields returns the fields of a request that validates a stored response, or several variants: RFC
// 9111 section 4.3.1. It omits the conditions of the client, which are evaluated against the result.
func ValidationFields[V Variant](request httpmessage.Fields, candidates []V) httpmessage.Fields {
	header := Unconditional(request)
	var tags []string
	for _, v := range candidates {
		if s := v.Metadata(); s.ETag != "" && !slices.Contains(tags, s.ETag) && len(tags) < maxTags {
			tags = append(tags, s.ETag)
		}
	}
	if len(tags) > 0 {
		header.Set(IfNoneMatch, strings.Join(tags, ", "))
	}
	// Other variants may have the same date.
	if s := candidates[0].Metadata(); len(candidates) == 1 && s.Matches(request.Values) && s.Modified != 0 {
		header.Set(IfModifiedSince, s.Fields.Get("Last-Modified"))
	}
	return header
}

// maxTags limits the entity tags of one validation.
const maxTags = 8

// Unconditional returns a copy of fields without conditions and ranges.
func Unconditional(request httpmessage.Fields) httpmessage.Fields {
	return Without(request, IfNoneMatch, IfModifiedSince, IfRange, "Range")
}

// WithoutConditions returns a copy of fields without the conditions that can result in a 304.
func WithoutConditions(request httpmessage.Fields) httpmessage.Fields {
	return Without(request, IfNoneMatch, IfModifiedSince)
}

// UpdatedFields returns the fields of a stored response, replaced by those of a 304 or of a response to HEAD:
// RFC 9111 section 3.2. A weak entity tag does not become strong: if the origin has encoded the content
// (nginx), it is not byte for byte the content of the strong tag. An update without Date gets the time of
// receipt: RFC 9110 section 6.6.1.
func UpdatedFields(before, update httpmessage.Fields) httpmessage.Fields {
	replaced := make([]string, 0, len(update)+1)
	replaced = append(replaced, "Date")
	for _, f := range update {
		if !f.HasName("Content-Length") && !f.HasName("Content-Range") {
			replaced = append(replaced, f.Name)
		}
	}
	fields := append(Without(before, replaced...), Without(update, "Content-Length", "Content-Range")...)
	tag, newTag := before.Get("Etag"), update.Get("Etag")
	if tag != "" && !Strong(tag) && Strong(newTag) && opaque(tag) == opaque(newTag) {
		fields.Set("Etag", tag)
	}
	return fields
}

// Validated returns the nominated stored response that a 304 validates; the zero value for none: RFC 9111
// section 4.3.4.
func Validated[V Variant](update httpmessage.Fields, nominated []V) (valid V) {
	tag := update.Get("Etag")
	for _, v := range nominated {
		s := v.Metadata()
		if tag != "" && s.ETag != "" {
			if s.ETag == tag || (!Strong(tag) || !Strong(s.ETag)) && opaque(s.ETag) == opaque(tag) {
				return v
			}
			continue
		}
		modified := update.Values("Last-Modified")
		same := len(modified) > 0 && modified[0] == s.Fields.Get("Last-Modified")
		if len(nominated) == 1 && (same || len(modified) == 0 && !Strong(tag)) {
			return v
		}
	}
	return valid
}
