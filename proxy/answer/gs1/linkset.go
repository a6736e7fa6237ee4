package gs1

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns/digitallink"
)

// target is a link target object: the attributes of RFC 9264 section 4.2.4 that GS1's schema allows, in its
// order.
type target struct {
	Href     string   `json:"href"`
	Title    string   `json:"title"`
	Type     string   `json:"type,omitempty"`
	Language []string `json:"hreflang,omitempty"`
	Context  []string `json:"context,omitempty"`
}

// Linkset returns links as a linkset of GS1's profile, which is narrower than RFC 9264 (section 2.10):
// anchors and targets are http or https URLs, each link has a title, each link context has a description of
// its anchor, and an identifier has one default link, with a title as its only attribute. Links that the
// profile cannot express are omitted. describe returns the description of an anchor. If hasContext is set,
// the linkset contains the JSON-LD context: application/ld+json.
func Linkset(links []resolver.Link, describe func(anchor string) string, hasContext bool) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	if hasContext {
		b.WriteString(`"@context":` + linksetContext + ",")
	}
	b.WriteString(`"linkset":[`)
	for i, anchor := range anchorsOf(links) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"anchor":`)
		write(&b, anchor)
		b.WriteString(`,"itemDescription":`)
		write(&b, describe(anchor))
		writeRelations(&b, links, anchor)
		b.WriteByte('}')
	}
	b.WriteString("]}\n")
	return b.Bytes()
}

// anchorsOf returns the anchors of links, in order.
func anchorsOf(links []resolver.Link) (anchors []string) {
	for _, l := range links {
		if isWeb(l.Anchor) && !slices.Contains(anchors, l.Anchor) {
			anchors = append(anchors, l.Anchor)
		}
	}
	return anchors
}

// writeRelations writes the link types of an anchor, in order of their first link, each with its targets.
func writeRelations(b *bytes.Buffer, links []resolver.Link, anchor string) {
	relations := make(map[string][]target)
	var order []string
	add := func(rel string, t target) {
		if relations[rel] == nil {
			order = append(order, rel)
		}
		relations[rel] = append(relations[rel], t)
	}
	defaults := 0
	for _, l := range links {
		if l.Anchor != anchor || !isWeb(l.URI) || !isRelation(l.Rel) {
			continue
		}
		t := targetOf(l)
		if l.Rel != digitallink.DefaultLink {
			add(l.Rel, t)
			continue
		}
		if defaults++; defaults == 1 {
			add(l.Rel, target{Href: t.Href, Title: t.Title})
		}
		if t.Type != "" || t.Language != nil || t.Context != nil || defaults > 1 {
			add(digitallink.DefaultLinkMulti, t)
		}
	}
	for _, rel := range order {
		b.WriteByte(',')
		write(b, rel)
		b.WriteByte(':')
		write(b, relations[rel])
	}
}

func targetOf(l resolver.Link) target {
	t := target{Href: l.URI, Title: cmp.Or(strings.TrimSpace(l.Title), Title(l.Rel)), Type: l.Type}
	if tag := languageTag(l.Language); tag != "" {
		t.Language = []string{tag}
	}
	if l.Context != "" {
		t.Context = []string{l.Context}
	}
	return t
}

// isWeb reports whether the profile allows a URI: http or https.
func isWeb(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

// isRelation reports whether the profile allows a link type: a registered one of letters and hyphens, or a
// URL of letters, digits, dots and slashes.
func isRelation(rel string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	if _, rest, ok := strings.Cut(rel, "://"); ok {
		return isWeb(rel) && strings.Trim(strings.ToLower(rest), letters+"0123456789./") == ""
	}
	return rel != "" && strings.Trim(rel, letters+"-") == ""
}

// languageTag returns a language tag in the form of the profile, "ll" or "ll-CC", without script, variant and
// numeric region; "" for a language without a two-letter code.
func languageTag(tag string) string {
	parts := strings.Split(tag, "-")
	if len(parts[0]) != 2 {
		return ""
	}
	language := strings.ToLower(parts[0])
	for _, part := range parts[1:] {
		switch len(part) {
		case 1: // an extension follows
			return language
		case 2:
			return language + "-" + strings.ToUpper(part)
		}
	}
	return language
}

// write writes JSON without a line end. It is safe inside a script element.
func write(b *bytes.Buffer, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		text = []byte("null") // none of these types can fail
	}
	b.Write(text)
}
