package gs1

import (
	"cmp"
	"slices"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns/digitallink"
)

// Set is all links of an identifier: those of its levels, the most specific first. Each link has an anchor, and a type as
// digitallink.TypeOf returns it. It is immutable.
type Set struct {
	Links []resolver.Link
	// Redirect is where another resolver knows all of it, "" for nowhere: sections 2.8 and 2.14.
	Redirect string
	name     string
	levels   []string
}

// MaxLinks bounds the links of a linkset: as many as six levels may have targets.
const MaxLinks = 600

// NewSet returns the links of an identifier, by its canonical name, which is the anchor of those that have none, and the names of its levels, the
// most specific first.
func NewSet(name string, links []resolver.Link, levels []string) *Set {
	s := &Set{name: name, levels: levels}
	for _, link := range links {
		switch link.Rel = digitallink.TypeOf(link.Rel); link.Rel {
		case "", "item":
			link.Rel = digitallink.DefaultLink
		case digitallink.HandledBy:
			s.Redirect = cmp.Or(s.Redirect, link.URI)
		}
		s.add(link)
	}
	if len(s.of(digitallink.DefaultLink)) > 0 { // it is known here, too
		s.Redirect = ""
	}
	slices.SortStableFunc(s.Links, func(a, b resolver.Link) int { return cmp.Compare(s.level(a), s.level(b)) })
	return s
}

func (s *Set) add(link resolver.Link) {
	if len(s.Links) < MaxLinks {
		link.Anchor = cmp.Or(link.Anchor, s.name)
		s.Links = append(s.Links, link)
	}
}

// level returns the place of the level of a link: what is at none is behind all.
func (s *Set) level(link resolver.Link) int {
	if i := slices.Index(s.levels, link.Anchor); i >= 0 {
		return i
	}
	return len(s.levels)
}

// of returns the links of a type, of the most specific level that has some: section 2.5.9.
func (s *Set) of(linkType string) (links []resolver.Link) {
	for _, link := range s.Links {
		if link.Rel == linkType && (len(links) == 0 || link.Anchor == links[0].Anchor) {
			links = append(links, link)
		}
	}
	return links
}

// Types returns the link types that there are, as people write them, at most so many.
func (s *Set) Types(most int) (types []string) {
	for _, link := range s.Links {
		if short := digitallink.ShortType(link.Rel); !slices.Contains(types, short) && len(types) < most {
			types = append(types, short)
		}
	}
	return types
}
