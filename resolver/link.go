package resolver

import (
	"slices"
	"unicode/utf8"

	"github.com/urnd/urnd/uri"
)

// Link is a link from a name to a target: RFC 8288 section 2. Unknown fields are "".
type Link struct {
	// Anchor is the name that the link belongs to, if it is not the resolved name, for example the item of a
	// serial number.
	Anchor string
	URI    string
	Rel    string // a relation type, registered or a URI; "" for the resource itself, or its representative
	Title  string
	Type   string // media type
	// Language is the language of the target, a tag of RFC 5646. Context is its audience, such as a country:
	// GS1-Conformant Resolver standard section 2.5.6.
	Language, Context string
}

// Relation is the relation of a location to the name that resolves to it, besides its type and language. It is
// immutable, since answers share it.
type Relation struct {
	Anchor, Rel, Title, Context string // see Link
	// OtherLinks are the links of the name that it does not resolve to. One location of an answer has them if the
	// name is not in the registry; registered names have them in their Record.
	OtherLinks []Link
}

// size returns the size of a relation in bytes; 0 for nil.
func (r *Relation) size() int {
	if r == nil {
		return 0
	}
	const fields = 96
	return fields + len(r.Anchor) + len(r.Rel) + len(r.Title) + len(r.Context) + sizeOfLinks(r.OtherLinks)
}

// isText reports whether the texts of a relation are valid UTF-8, which input checks guarantee; true for nil.
func (r *Relation) isText() bool {
	return r == nil || utf8.ValidString(r.Title) && utf8.ValidString(r.Context) &&
		!slices.ContainsFunc(r.OtherLinks,
			func(l Link) bool { return !utf8.ValidString(l.Title) || !utf8.ValidString(l.Context) })
}

func sizeOfLinks(links []Link) int {
	const fields = 112
	size := 0
	for i := range links {
		l := &links[i]
		size += fields + len(l.Anchor) + len(l.URI) + len(l.Rel) + len(l.Title) + len(l.Type) + len(l.Language) +
			len(l.Context)
	}
	return size
}

// ToLink returns the location as a link of its name.
func (l Location) ToLink() Link {
	link := Link{URI: l.URI, Type: l.From.Type, Language: l.From.Language}
	if r := l.From.Relation; r != nil {
		link.Anchor, link.Rel, link.Title, link.Context = r.Anchor, r.Rel, r.Title, r.Context
	}
	return link
}

// Links returns all links of the name: first those that it resolves to, best first.
func (a Answer) Links() []Link {
	links := make([]Link, 0, len(a.Locations))
	for _, l := range a.Locations {
		links = append(links, l.ToLink())
	}
	return append(links, a.OtherLinks()...)
}

// OtherLinks returns the links that the name does not resolve to. The caller must not modify them.
func (a Answer) OtherLinks() []Link {
	for _, l := range a.Locations { // any location may have them: their order depends on the client
		switch from := l.From; {
		case from.Record != nil:
			return slices.Clip(from.Record.Links)
		case from.Relation != nil && len(from.Relation.OtherLinks) > 0:
			return slices.Clip(from.Relation.OtherLinks)
		}
	}
	return nil
}

// RelationResolves reports whether a name resolves to the target of a link with this relation type: see
// uri.RelationResolves.
func RelationResolves(rel string) bool { return uri.RelationResolves(rel) }
