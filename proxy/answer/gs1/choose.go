package gs1

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns/digitallink"
)

// Choice is the result of selecting the links for a request.
type Choice struct {
	// Linkset is the media type of the requested linkset; "" for links.
	Linkset string
	// Links are the selected links: several links match the request equally; none means that the identifier
	// has no link of the requested type.
	Links []resolver.Link
	// Vary is the value of Vary.
	Vary string
}

// Choose selects the links of an identifier for a request: sections 2.6, 2.9 and 2.10. failing reports
// whether a target should be avoided if there is an equal one.
func (s *Set) Choose(r *Request, failing func(location string) bool) Choice {
	competing := s.of(cmp.Or(r.LinkType, digitallink.DefaultLink))
	isDefault := r.LinkType == "" || r.LinkType == digitallink.DefaultLink
	if r.LinkType == "" {
		competing = append(competing, s.defaultsByLanguage(competing)...)
	}
	c := Choice{Vary: varyOf(competing)}
	if c.Linkset = r.linkset(competing); c.Linkset != "" {
		return c
	}
	if len(competing) == 0 {
		return c
	}
	c.Links = r.narrowed(competing)
	if isDefault {
		c.Links = preferDefault(c.Links, failing)
	}
	return c
}

// defaultsByLanguage returns the links of type defaultLinkMulti that compete with the default links: those of
// the most specific level that has some, unless it is less specific than that of the default (section 2.5.8).
func (s *Set) defaultsByLanguage(defaults []resolver.Link) []resolver.Link {
	multi := s.of(digitallink.DefaultLinkMulti)
	if len(defaults) == 0 || len(multi) == 0 || s.level(multi[0]) > s.level(defaults[0]) {
		return nil
	}
	return multi
}

// preferDefault returns the default links, unless the request selects others: a language that no link has
// does not lead to a choice.
func preferDefault(narrowed []resolver.Link, failing func(string) bool) []resolver.Link {
	isDefault := func(l resolver.Link) bool { return l.Rel == digitallink.DefaultLink }
	if !slices.ContainsFunc(narrowed, isDefault) {
		return narrowed
	}
	var defaults []resolver.Link
	for _, l := range narrowed {
		if isDefault(l) {
			defaults = append(defaults, l)
		}
	}
	if i := slices.IndexFunc(defaults, func(l resolver.Link) bool { return !failing(l.URI) }); i > 0 {
		return defaults[i : i+1]
	}
	return defaults[:1]
}

// varyOf returns the value of Vary for a choice of links. Accept always selects a linkset.
func varyOf(links []resolver.Link) string {
	if len(links) > 1 && slices.ContainsFunc(links, func(l resolver.Link) bool { return l.Language != "" }) {
		return "Accept, Accept-Language"
	}
	return "Accept"
}

// linkset returns the media type of the requested linkset, "" for links: the link type of the request is
// "linkset", or it prefers a linkset, or a media type that no competing link has.
func (r *Request) linkset(competing []resolver.Link) string {
	preferred := r.accept.preferred()
	if r.WantsLinkset {
		switch preferred {
		case TypeLinkset, TypeJSON, TypeLD, TypeHTML:
			return preferred
		default:
			return TypeLinkset
		}
	}
	isOf := func(l resolver.Link) bool { return l.Type != "" && r.accept.score(l.Type) > 1 }
	switch preferred {
	case TypeLinkset:
	case TypeJSON, TypeLD:
		if r.LinkType != "" || slices.ContainsFunc(competing, isOf) {
			return ""
		}
	default:
		return ""
	}
	if slices.ContainsFunc(competing, func(l resolver.Link) bool { return l.Type == TypeLinkset }) {
		return ""
	}
	return preferred
}

// narrowed returns the links that match the request best: by media type, then by language, then by context
// (section 2.6.3). A link without the attribute beats one that contradicts the request.
func (r *Request) narrowed(links []resolver.Link) []resolver.Link {
	links = best(links, func(l resolver.Link) float64 { return r.accept.score(l.Type) })
	if len(r.languages) > 0 && len(links) > 1 {
		links = r.byLanguage(links)
	}
	if r.Context != "" {
		links = best(links, func(l resolver.Link) float64 { return agreement(l.Context, r.Context, strings.EqualFold) })
	}
	return links
}

// byLanguage returns the links in the preferred language.
func (r *Request) byLanguage(links []resolver.Link) []resolver.Link {
	var tags []string
	for _, l := range links {
		if l.Language != "" {
			tags = append(tags, strings.ToLower(l.Language))
		}
	}
	tag, ok := lookup(r.languages, tags)
	if !ok && slices.Contains(r.languages, "*") {
		return links
	}
	return best(links, func(l resolver.Link) float64 {
		return agreement(strings.ToLower(l.Language), tag, func(a, b string) bool { return ok && a == b })
	})
}

// agreement returns a score of an attribute of a link: 2 for the requested value, 1 for no value, 0 for
// another value.
func agreement(reported, requested string, equal func(a, b string) bool) float64 {
	switch {
	case reported == "":
		return 1
	case equal(reported, requested):
		return 2
	default:
		return 0
	}
}

// best returns the links with the highest score.
func best(links []resolver.Link, score func(resolver.Link) float64) (all []resolver.Link) {
	most := -1.0
	for _, l := range links {
		switch got := score(l); {
		case got > most:
			most, all = got, append(all[:0:0], l)
		case got == most:
			all = append(all, l)
		}
	}
	return all
}
