package scheme

import (
	"slices"
	"strings"
)

// Truncate truncates a listing whose rendered document would exceed about the given number of bytes, sets
// Incomplete if it does, and returns the estimated size of the document. A few bytes of a server can become
// many in a document, because links repeat the URI of the request and characters are escaped. The fields around
// the items are counted but not truncated, except warnings, notes, properties and the text.
func (l *Listing) Truncate(size int64) int64 {
	b := budget{most: size}
	b.text(l.Title)
	b.uri(l.URI)
	for _, link := range []*Link{l.Parent, l.Previous, l.Next, l.Open} {
		if link != nil {
			b.text(link.Text)
			b.uri(link.URI)
		}
	}
	if l.Search != nil {
		b.text(l.Search.Label)
		b.uri(l.Search.Prefix)
	}
	l.Warnings = fitting(&b, l.Warnings, b.text)
	l.Notes = fitting(&b, l.Notes, b.text)
	l.Properties = fitting(&b, l.Properties, func(p Property) {
		b.text(p.Name)
		b.text(p.Value)
		b.uri(p.URI)
		b.used += markup
	})
	l.Items = fitting(&b, l.Items, func(i Item) { b.used += i.RenderedSize() })
	l.Text = b.cut(l.Text)
	if b.truncated && l.Incomplete == "" {
		l.Incomplete = "the listing exceeds the size limit"
	}
	return b.used
}

// RenderedSize returns the estimated size of the item in a rendered document in bytes, as Bound counts it. A handler
// that sums it up can stop reading where Bound would truncate.
func (i Item) RenderedSize() int64 {
	b := budget{used: markup}
	for _, text := range [...]string{i.Kind, i.Name, i.Type, i.From, i.Note} {
		b.text(text)
	}
	b.uri(i.URI)
	return b.used
}

// MaxEntries returns the maximum number of entries of a listing whose links start with the URI location, at
// least 1. It lowers Entries so that the repeated URI stays within Bytes, before Truncate truncates the listing.
func (l Limits) MaxEntries(location string) int {
	each := 2 * int64(len(location)+1)
	return int(max(min(int64(l.Entries), l.Bytes/each), 1))
}

// markup is the estimated number of bytes of markup per item, besides its texts and its URI.
const markup = 128

// budget counts the bytes of a rendered document.
type budget struct {
	most, used int64
	truncated  bool // something was left out
}

func (b *budget) text(s string) {
	for i := range len(s) {
		b.used += escaped(s[i])
	}
}

// uri counts a link twice: its URI may be percent-encoded again, or occur a second time.
func (b *budget) uri(s string) {
	b.text(s)
	b.text(s)
}

// escaped returns the maximum number of bytes of c when escaped in HTML or JSON.
func escaped(c byte) int64 {
	switch {
	case c == '\n', c == '\t':
		return int64(len(`\n`))
	case c < ' ', strings.IndexByte("\"&'+<>\\`", c) >= 0:
		return int64(len(`\u0000`))
	default:
		return 1
	}
}

// fitting returns the prefix of all that fits into the budget, measured by count. The prefix is cloned, so that
// the other values can be garbage collected.
func fitting[T any](b *budget, all []T, count func(T)) []T {
	for i, one := range all {
		before := b.used
		if count(one); b.used > b.most {
			b.used, b.truncated = before, true
			return slices.Clone(all[:i])
		}
	}
	return all
}

// cut returns the longest prefix of s that fits into the budget.
func (b *budget) cut(s string) string {
	for i := range len(s) {
		each := escaped(s[i])
		if b.used+each > b.most {
			b.truncated = true
			return strings.Clone(strings.ToValidUTF8(s[:i], ""))
		}
		b.used += each
	}
	return s
}
