package compress

import (
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// StrengthenIfMatch adds to each weak entity tag in If-Match the strong tag that it may have been derived from.
// If-Match requires strong comparison (RFC 9110 section 13.1.1), and an origin does not know the weak tags of
// encoded forms. Requests whose responses are not compressed keep the tags of the origin.
func (c *Compressor) StrengthenIfMatch(fields *httpmessage.Fields) {
	if c == nil || !fields.Has("If-Match") || !c.withAll && hasCredentials(fields.Values) {
		return
	}
	list := fields.List("If-Match")
	all := []string{list}
	for tag := range httpmessage.EntityTags(list) {
		strong, weak := strings.CutPrefix(tag, "W/")
		if whole := len(strong) > 1 && strings.HasSuffix(strong, `"`); weak && whole && !hasTag(list, strong) {
			all = append(all, strong)
		}
	}
	if len(all) > 1 {
		fields.Set("If-Match", strings.Join(all, ", "))
	}
}

// hasTag reports whether a list contains an entity tag.
func hasTag(list, tag string) bool {
	for one := range httpmessage.EntityTags(list) {
		if one == tag {
			return true
		}
	}
	return false
}
