package compress

import (
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// StrengthenIfMatch adds to the weak entity tags in If-Match of a request the strong ones that they may have been made of: this field is
// for strong tags alone (RFC 9110 section 13.1.1), and an origin does not know those of compressed forms. Requests whose responses are
// not compressed have the tags of the origin.
func (c *Compressor) StrengthenIfMatch(fields *httpmessage.Fields) {
	if c == nil || !fields.Has("If-Match") || !c.withAll && hasCredentials(fields.Lines) {
		return
	}
	list := fields.List("If-Match")
	all := []string{list}
	for tag := range tagsOf(list) {
		if strong, weak := strings.CutPrefix(tag, "W/"); weak && !hasTag(list, strong) {
			all = append(all, strong)
		}
	}
	if len(all) > 1 {
		fields.Set("If-Match", strings.Join(all, ", "))
	}
}

// hasTag reports whether a list has an entity tag.
func hasTag(list, tag string) bool {
	for one := range tagsOf(list) {
		if one == tag {
			return true
		}
	}
	return false
}

// maxTags bounds the entity tags of a list that are read.
const maxTags = 32

// tagsOf yields the entity tags of a list. A comma in quotes is part of a tag, in which there is no escape: RFC 9110 section 8.8.3.
func tagsOf(list string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for range maxTags {
			list = strings.TrimLeft(list, " \t,")
			opaque := strings.TrimPrefix(list, "W/")
			if !strings.HasPrefix(opaque, `"`) {
				return
			}
			end := strings.IndexByte(opaque[1:], '"')
			if end < 0 {
				return
			}
			end += len(list) - len(opaque) + len(`""`)
			if !yield(list[:end]) {
				return
			}
			list = list[end:]
		}
	}
}
