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

// NewSet returns the links of an answer about an identifier with some levels, the most specific first.
func NewSet(answer resolver.Answer, levels []string) *Set {
	s := &Set{name: answer.Name.String(), levels: levels}
	for _, l := range answer.Locations {
		link := l.AsLink()
		if link.Rel = digitallink.TypeOf(link.Rel); link.Rel == "" || link.Rel == "item" {
			link.Rel = digitallink.DefaultLink
		}
		s.add(link)
	}
	isElsewhere := len(s.Links) > 0
	for i := range s.Links {
		isElsewhere = isElsewhere && s.Links[i].Rel == digitallink.HandledBy
	}
	if isElsewhere {
		s.Redirect = s.Links[0].URI
	}
	for _, link := range answer.Others() {
		link.Rel = digitallink.TypeOf(link.Rel)
		s.add(link)
	}
	slices.SortStableFunc(s.Links, func(a, b resolver.Link) int { return cmp.Compare(s.level(a), s.level(b)) })
	return s
}

// WithoutTargets returns the links without those that have no target.
func (s *Set) WithoutTargets() *Set {
	s.Links = slices.DeleteFunc(s.Links, func(l resolver.Link) bool { return l.URI == "" })
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
