package scheme

import (
	"slices"
	"strings"
)

// Bound cuts a listing where a document of it would have more octets than these, about, which Incomplete
// says then, and returns how many it would have. Few octets of a server can be many in a document: links
// repeat the URI of the request, and characters are escaped. What is around the items is not cut, but for
// notes and properties.
func (l *Listing) Bound(octets int64) int64 {
	b := budget{most: octets}
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
	l.Items = fitting(&b, l.Items, func(i Item) {
		for _, text := range [...]string{i.Kind, i.Name, i.Type, i.From, i.Note} {
			b.text(text)
		}
		b.uri(i.URI)
		b.used += markup
	})
	l.Text = b.cut(l.Text)
	if b.isCut && l.Incomplete == "" {
		l.Incomplete = "it is longer than this server shows"
	}
	return b.used
}

// EntriesOf returns how many entries a listing may have whose links begin with a URI, its location: so many that these
// have no more than Octets. It keeps a long URI from being repeated until Bound cuts the listing.
func (l Limits) EntriesOf(location string) int {
	each := 2 * int64(len(location)+1)
	return int(max(min(int64(l.Entries), l.Octets/each), 1))
}

// markup is about how many octets a document has for an item besides its texts and URI.
const markup = 128

// budget counts the octets of a document.
type budget struct {
	most, used int64
	isCut      bool // something is left out
}

func (b *budget) text(s string) {
	for i := range len(s) {
		b.used += escaped(s[i])
	}
}

// uri counts a link, in which a URI may be encoded once more, or be there a second time.
func (b *budget) uri(s string) {
	b.text(s)
	b.text(s)
}

// escaped returns how many octets one can be in HTML, or in JSON.
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

// fitting returns the first of some values that fit, as count counts them. The others are not kept in memory.
func fitting[T any](b *budget, all []T, count func(T)) []T {
	for i, one := range all {
		before := b.used
		if count(one); b.used > b.most {
			b.used, b.isCut = before, true
			return slices.Clone(all[:i])
		}
	}
	return all
}

// cut returns as much of a text as fits.
func (b *budget) cut(s string) string {
	for i := range len(s) {
		each := escaped(s[i])
		if b.used+each > b.most {
			b.isCut = true
			return strings.Clone(strings.ToValidUTF8(s[:i], ""))
		}
		b.used += each
	}
	return s
}
