package resolver

import (
	"slices"
	"unicode/utf8"

	"github.com/urnd/urnd/uri"
)

// Link is a link from a name to something: RFC 8288 section 2. What is not known is "".
type Link struct {
	// Anchor is the name that has it, where that is not the one that was resolved, such as the item that a serial number is of.
	Anchor string
	URI    string
	Rel    string // a relation type, registered or a URI; "" is the thing itself, or what stands for it
	Title  string
	Type   string // the media type
	// Language is that of the resource, a tag of RFC 5646, and Context for whom it is, such as a country: GS1-Conformant Resolver
	// standard section 2.5.6.
	Language, Context string
}

// Relation is what a location is to the name that leads there, besides its type and language. Answers share it; it is immutable.
type Relation struct {
	Anchor, Rel, Title, Context string // see Link
	// Others are the links of the name to which it does not lead. One location of an answer has them, of a name that is not in the registry
	// of the site: others have them in their Record.
	Others []Link
}

// size returns the memory of a relation, in bytes; 0 for nil.
func (r *Relation) size() int {
	if r == nil {
		return 0
	}
	const fields = 96
	return fields + len(r.Anchor) + len(r.Rel) + len(r.Title) + len(r.Context) + sizeOfLinks(r.Others)
}

// isText reports whether the texts of a relation are UTF-8, as they are where they were checked; true for nil.
func (r *Relation) isText() bool {
	return r == nil || utf8.ValidString(r.Title) && utf8.ValidString(r.Context) &&
		!slices.ContainsFunc(r.Others, func(l Link) bool { return !utf8.ValidString(l.Title) || !utf8.ValidString(l.Context) })
}

func sizeOfLinks(links []Link) int {
	const fields = 112
	size := 0
	for i := range links {
		l := &links[i]
		size += fields + len(l.Anchor) + len(l.URI) + len(l.Rel) + len(l.Title) + len(l.Type) + len(l.Language) + len(l.Context)
	}
	return size
}

// AsLink returns a location as a link of its name.
func (l Location) AsLink() Link {
	link := Link{URI: l.URI, Type: l.From.Type, Language: l.From.Language}
	if r := l.From.Relation; r != nil {
		link.Anchor, link.Rel, link.Title, link.Context = r.Anchor, r.Rel, r.Title, r.Context
	}
	return link
}

// Links returns all links of the name: first those to which it leads, the best first.
func (a Answer) Links() []Link {
	links := make([]Link, 0, len(a.Locations))
	for _, l := range a.Locations {
		links = append(links, l.AsLink())
	}
	return append(links, a.Others()...)
}

// Others returns the links of the name to which it does not lead. The caller must not change them.
func (a Answer) Others() []Link {
	for _, l := range a.Locations { // what is first may have changed with who asks
		switch from := l.From; {
		case from.Record != nil:
			return slices.Clip(from.Record.Links)
		case from.Relation != nil && len(from.Relation.Others) > 0:
			return slices.Clip(from.Relation.Others)
		}
	}
	return nil
}

// Leads reports whether a name leads to the target of a link with a relation type: see uri.Leads.
func Leads(rel string) bool { return uri.Leads(rel) }
