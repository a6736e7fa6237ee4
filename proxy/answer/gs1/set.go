package gs1

import (
	"cmp"
	"slices"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns/digitallink"
)

// Set is the set of all links of an identifier on all its levels, the most specific level first. Each link
// has an anchor, and a type in the form of digitallink.TypeOf. It is immutable.
type Set struct {
	Links []resolver.Link
	// Redirect is the URL of another resolver that has all links, "" for none: sections 2.8 and 2.14.
	Redirect string
	name     string
	levels   []string
}

// MaxLinks limits the links of a linkset: the targets of six levels.
const MaxLinks = 600

// NewSet returns the links of an identifier. name is its canonical name, the anchor of links without one;
// levels are the names of its levels, the most specific first.
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
	if len(s.of(digitallink.DefaultLink)) > 0 { // this resolver also has a default link
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

// level returns the index of the level of a link; links without a level come last.
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

// Types returns at most most link types of the set, in their short form.
func (s *Set) Types(most int) (types []string) {
	for _, link := range s.Links {
		if short := digitallink.ShortType(link.Rel); !slices.Contains(types, short) && len(types) < most {
			types = append(types, short)
		}
	}
	return types
}
