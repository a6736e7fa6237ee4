package answer

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
)

// mementosPage is the page size of a TimeMap, in mementos.
const mementosPage = 1000

// pages returns the number of pages of a TimeMap; 0 for a short one, which is not split.
func (p *versionHistory) pages() int {
	if len(p.Times) <= mementosPage {
		return 0
	}
	return (len(p.Times) + mementosPage - 1) / mementosPage
}

// page returns the range of the versions of a page: from, until (exclusive); page 0 has all versions.
func (p *versionHistory) page(page int) (from, until int) {
	if page == 0 {
		return 0, len(p.Times)
	}
	return (page - 1) * mementosPage, min(page*mementosPage, len(p.Times))
}

// timeMapLink returns the link to a page of the TimeMap, with the times of its first and last memento (RFC
// 7089 section 5.1).
func (p *versionHistory) timeMapLink(page int, rel string) string {
	from, until := p.page(page)
	return link(p.timeMapURL(page), rel, "type", typeLinks,
		"from", p.Times[from].Format(http.TimeFormat), "until", p.Times[until-1].Format(http.TimeFormat))
}

// timeMap replies with the TimeMap of a name; a long one links to its pages.
func (p *versionHistory) timeMap() (message.Reply, error) {
	page := p.Memento.Page
	if page > max(p.pages(), 1) {
		return message.Reply{}, &problem.Failure{
			Err: &resolver.Negative{
				Kind:   resolver.ErrNotFound,
				Reason: fmt.Sprintf("its TimeMap has no page %d", page),
			}, Input: p.Query.URI.String(),
		}
	}
	links := []string{p.original(), p.timeGateLink(), p.timeMapLink(page, "self")}
	for other := 1; other <= p.pages(); other++ {
		if other != page {
			links = append(links, p.timeMapLink(other, "timemap"))
		}
	}
	if page == 0 && p.pages() > 0 { // the pages contain all others
		links = append(links, p.mementoLink(0, ""), p.mementoLink(len(p.Times)-1, ""))
	} else {
		for index, until := p.page(page); index < until; index++ {
			links = append(links, p.mementoLink(index, ""))
		}
	}
	return message.Reply{
		Status: http.StatusOK, ContentType: typeLinks, Body: []byte(strings.Join(links, ",\n") + "\n"),
		CacheControl: message.MaxAge(p.Lifetime()), SharedMaxAge: p.SharedLifetime(),
	}, nil
}
