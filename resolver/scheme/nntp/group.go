package nntp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// status is the reply to GROUP: RFC 3977 section 6.1.1. Its count may be an estimate.
type status struct{ count, low, high uint64 }

// selectGroup selects the group of the target.
func (x exchange) selectGroup() (status, error) {
	r, err := x.client.command("GROUP " + x.target.group)
	if err != nil {
		return status{}, err
	}
	if r.code != codeGroup {
		return status{}, r.refusal(x.server)
	}
	return parseStatus(r.text)
}

// parseStatus parses the reply to GROUP: "count low high name".
func parseStatus(text string) (status, error) {
	words := strings.Fields(text)
	var numbers [3]uint64
	for i := range numbers {
		var err error
		if i < len(words) {
			numbers[i], err = parseNumber(words[i])
		}
		if i >= len(words) || err != nil {
			return status{}, fmt.Errorf("%w: reply to GROUP: %.60q", scheme.ErrInvalidResponse, text)
		}
	}
	return status{numbers[0], numbers[1], numbers[2]}, nil
}

// parseNumber parses the number of an article: RFC 3977 section 9.8 allows 16 digits.
func parseNumber(text string) (uint64, error) {
	const maxDigits = 16
	if len(text) > maxDigits {
		return 0, strconv.ErrRange
	}
	return strconv.ParseUint(text, 10, 64)
}

// page is a range of article numbers in a group; the zero value is empty.
type page struct{ first, last uint64 }

// page returns the range that a URL names, otherwise that of the newest articles.
func (s status) page(query uri.NewsQuery, size uint64) page {
	low := max(s.low, 1)
	if s.count == 0 || s.high < low {
		return page{}
	}
	if query.First != 0 {
		if query.First > s.high || query.Last < low {
			return page{}
		}
		return page{max(query.First, low), min(query.Last, s.high)}
	}
	window := s.window(size)
	if window > s.high-low {
		return page{low, s.high}
	}
	return page{s.high - window + 1, s.high}
}

// window returns the size of the number range that has about size articles. It is larger if many articles have
// expired.
func (s status) window(size uint64) uint64 {
	numbers := s.high - max(s.low, 1) + 1
	return max(numbers/s.count, 1) * size
}

// older returns the page before p; the zero value if there is none.
func (s status) older(p page, size uint64) page {
	low := max(s.low, 1)
	if p.first <= low {
		return page{}
	}
	last := p.first - 1
	return page{last - min(s.window(size)-1, last-low), last}
}

func (s status) newer(p page, size uint64) page {
	if p.last == 0 || p.last >= s.high {
		return page{}
	}
	return page{p.last + 1, p.last + min(s.window(size), s.high-p.last)}
}

// group returns the listing of a page of articles of a group.
func (x exchange) group() (*scheme.Resource, error) {
	s, err := x.selectGroup()
	if err != nil {
		return nil, err
	}
	count := int64(min(s.count, scheme.MaxSize))
	l := &scheme.Listing{
		Kind: scheme.KindGroup, Title: scheme.DecodeText(x.target.group), URI: x.target.links.self, Parent: x.around(),
		Properties: []scheme.Property{{Name: "Articles", Value: strconv.FormatInt(count, 10)}},
	}
	size := uint64(max(x.config.PageSize, 1))
	p := s.page(x.target.query, size)
	if p == (page{}) {
		return scheme.ListingResource(l), nil
	}
	l.Properties = append(l.Properties,
		scheme.Property{Name: "Numbers", Value: fmt.Sprintf("%d to %d", p.first, p.last)})
	overviews, cut, err := x.overviews(p)
	if err != nil {
		return nil, err
	}
	l.Incomplete = cut
	l.Items = x.threaded(overviews)
	l.Next = x.pageLink("older articles", s.older(p, size), s)
	l.Previous = x.pageLink("newer articles", s.newer(p, size), s)
	if cut == "" && x.client.capabilities.has("LIST", "NEWSGROUPS") {
		err = x.describe(x.target.group, func(name, description string) {
			if name == x.target.group && len(l.Notes) == 0 {
				l.Notes = []string{description}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return scheme.ListingResource(l), nil
}

// around returns the link to the groups with the same parent hierarchy.
func (x exchange) around() *scheme.Link {
	pattern := allGroups
	if i := strings.LastIndexByte(x.target.group, '.'); i >= 0 {
		pattern = x.target.group[:i] + ".*"
	}
	return &scheme.Link{Text: scheme.DecodeText(pattern), URI: valid(x.target.links.news + escape(pattern))}
}

// pageLink returns the link to a page; nil for an empty one. The link to the newest page has no numbers, so
// that it stays the newest.
func (x exchange) pageLink(text string, p page, s status) *scheme.Link {
	if p == (page{}) {
		return nil
	}
	query := uri.NewsQuery{First: p.first, Last: p.last}
	if p.last == s.high {
		query = uri.NewsQuery{}
	}
	return &scheme.Link{Text: text, URI: x.target.links.group(x.target.group, query)}
}
