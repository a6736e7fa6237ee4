package answer

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Media types of linksets: RFC 9264 sections 4.2 and 4.1.
const (
	linksetType  = "application/linkset+json"
	linkTextType = "application/linkset"
)

// maxLinks limits the links of one context in a linkset.
const maxLinks = 500

// linkContext is a link context with its links, in order: RFC 9264 section 4.2.2. All URIs are absolute if
// the URL of the server is known.
type linkContext struct {
	Anchor string
	Links  []resolver.Link // with relation types; their Anchor is not used
}

// add adds a link.
func (c *linkContext) add(rel, href, mediaType string) {
	c.Links = append(c.Links, resolver.Link{Rel: rel, URI: href, Type: mediaType})
}

// linkTarget is a link target object: RFC 9264 section 4.2.3.
type linkTarget struct {
	Href     string   `json:"href"`
	Title    string   `json:"title,omitempty"`
	Type     string   `json:"type,omitempty"`
	Language []string `json:"hreflang,omitempty"`
	Context  []string `json:"context,omitempty"` // an extension attribute of GS1: section 4.2.4.3
}

// linksetJSON returns a linkset as JSON, with one line per target.
func linksetJSON(contexts []linkContext) []byte {
	b := bytes.NewBuffer(make([]byte, 0, 4096))
	out := json.NewEncoder(b)
	b.WriteString(`{"linkset": [`)
	for i := range contexts {
		separate(b, i > 0, "  ")
		contexts[i].writeJSON(b, out)
	}
	b.WriteString("]}\n")
	return b.Bytes()
}

// writeJSON writes a context: its anchor, and each relation type with its targets, in order of their first
// link.
func (c *linkContext) writeJSON(b *bytes.Buffer, out *json.Encoder) {
	b.WriteString(`{"anchor": `)
	writeJSON(b, out, c.Anchor)
	links := c.Links[:min(len(c.Links), maxLinks)]
	for i := range links {
		rel := links[i].Rel
		if slices.ContainsFunc(links[:i], func(l resolver.Link) bool { return l.Rel == rel }) {
			continue
		}
		separate(b, true, "    ")
		writeJSON(b, out, rel)
		b.WriteString(": [")
		for j := i; j < len(links); j++ {
			if l := &links[j]; l.Rel == rel {
				separate(b, j > i, "      ")
				writeJSON(b, out, &linkTarget{l.URI, l.Title, l.Type, listOf(l.Language), listOf(l.Context)})
			}
		}
		b.WriteByte(']')
	}
	b.WriteByte('}')
}

// separate begins an indented line, after a comma if hasOthers is true.
func separate(b *bytes.Buffer, hasOthers bool, indent string) {
	if hasOthers {
		b.WriteByte(',')
	}
	b.WriteByte('\n')
	b.WriteString(indent)
}

func listOf(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// writeJSON writes a value without the line end of its encoder.
func writeJSON(b *bytes.Buffer, out *json.Encoder, v any) {
	if out.Encode(v) == nil { // none of these types can fail
		b.Truncate(b.Len() - 1)
	}
}

// linksetText returns a linkset in the syntax of the Link field: RFC 9264 section 4.1.
func linksetText(contexts []linkContext) []byte {
	var b []byte
	for i := range contexts {
		c := &contexts[i]
		for j := range c.Links[:min(len(c.Links), maxLinks)] {
			if len(b) > 0 {
				b = append(b, ",\n"...)
			}
			b = appendLink(b, &c.Links[j], c.Anchor)
		}
	}
	return append(b, '\n')
}

// appendLink appends a link-value of RFC 8288 section 3; anchor may be "". It is ASCII, and its target
// contains no comma or semicolon, at which some clients would split the field.
func appendLink(dst []byte, l *resolver.Link, anchor string) []byte {
	dst = appendTarget(append(dst, '<'), l.URI)
	dst = append(append(append(dst, `>; rel="`...), uri.EncodeRaw(l.Rel)...), '"')
	if anchor != "" {
		dst = append(appendTarget(append(dst, `; anchor="`...), anchor), '"')
	}
	dst = appendQuoted(dst, "type", l.Type)
	dst = appendQuoted(dst, "hreflang", l.Language)
	dst = appendText(dst, "title", l.Title, l.Language)
	return appendText(dst, "context", l.Context, "")
}

// appendTarget appends a URI, with percent-encoded delimiters.
func appendTarget(dst []byte, target string) []byte {
	for _, c := range []byte(target) {
		if c <= ' ' || c >= 0x7F || strings.IndexByte(`,;<>"\`, c) >= 0 {
			dst = appendEncoded(dst, c)
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// appendQuoted appends a target attribute as a quoted string (RFC 9110 section 5.6.4). A value with other
// characters is omitted: RFC 8288 section 3.4.1 defines an extended form for "title" only.
func appendQuoted(dst []byte, name, value string) []byte {
	if value == "" || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c >= 0x7F }) {
		return dst
	}
	dst = append(append(append(dst, "; "...), name...), `="`...)
	for _, c := range []byte(value) {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// appendText appends a text attribute as a quoted string or, if it contains other characters or ones at which
// clients split, by RFC 8187 section 3.2, with its language, "" if unknown.
func appendText(dst []byte, name, value, tag string) []byte {
	if !strings.ContainsFunc(value,
		func(c rune) bool { return c < ' ' || c >= 0x7F || strings.ContainsRune(`,;"\`, c) }) {
		return appendQuoted(dst, name, value)
	}
	dst = append(append(append(dst, "; "...), name...), "*=UTF-8'"...)
	if !strings.ContainsFunc(tag, func(c rune) bool { return c != '-' && !isAlphanumeric(c) }) {
		dst = append(dst, tag...)
	}
	dst = append(dst, '\'')
	for _, c := range []byte(value) {
		if isAlphanumeric(rune(c)) || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			dst = append(dst, c)
			continue
		}
		dst = appendEncoded(dst, c)
	}
	return dst
}

func isAlphanumeric(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func appendEncoded(dst []byte, c byte) []byte {
	const hex = "0123456789ABCDEF"
	return append(dst, '%', hex[c>>4], hex[c&15])
}
