package editor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry/field"
)

// memberTags is the member of metadata by which names are found by tag: see registry.Search.
const memberTags = "tags"

// withTag returns metadata with a tag, or without it; others stay in their order.
func withTag(metadata, tag string, with bool) string {
	members, _ := field.ParseMembers(json.RawMessage(metadata)) // the registry has checked it
	at := slices.IndexFunc(members, func(m field.Member) bool { return m.Name == memberTags })
	if at < 0 {
		at, members = len(members), append(members, field.Member{Name: memberTags, Value: json.RawMessage("null")})
	}
	var tags []json.RawMessage
	if value := members[at].Value; json.Unmarshal(value, &tags) != nil { // a tag that is in no list; null is none
		tags = []json.RawMessage{value}
	}
	is := func(v json.RawMessage) bool {
		var text string
		return json.Unmarshal(v, &text) == nil && strings.EqualFold(text, tag)
	}
	has := slices.ContainsFunc(tags, is)
	switch {
	case has == with:
		return metadata
	case with:
		tags = append(tags, field.AppendString(nil, tag))
	default:
		tags = slices.DeleteFunc(tags, is)
	}
	if len(tags) == 0 {
		members = slices.Delete(members, at, at+1)
	} else {
		members[at].Value, _ = field.Marshal(tags) // it was JSON
	}
	if len(members) == 0 {
		return ""
	}
	return string(field.FormatObject(members))
}
