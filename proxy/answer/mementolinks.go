package answer

import (
	"net/http"
	"strings"
	"time"

	"github.com/urnd/urnd/proxy/route"
)

// typeLinks is the media type of TimeMaps: RFC 6690 section 7.3.
const typeLinks = "application/link-format"

// link returns a link-value with a relation and parameters, pairs of a name and a value, which must not
// contain quotes (RFC 8288 section 3).
func link(target, rel string, parameters ...string) string {
	var b strings.Builder
	b.WriteString("<" + target + `>; rel="` + rel + `"`)
	for i := 0; i+1 < len(parameters); i += 2 {
		b.WriteString("; " + parameters[i] + `="` + parameters[i+1] + `"`)
	}
	return b.String()
}

// original returns the link to the name itself, which redirects (URI-R).
func (p *versionHistory) original() string {
	return link(string(route.AppendNameURL(nil, p.Base, p.Name.String())), "original")
}

// timeGateLink returns the link to the TimeGate (URI-G).
func (p *versionHistory) timeGateLink() string {
	return link(route.TimeGateURL(p.Base, p.Name.String()), "timegate")
}

// timeMapURL returns the URL of a page of the TimeMap (URI-T).
func (p *versionHistory) timeMapURL(page int) string {
	return route.TimeMapURL(p.Base, page, p.Name.String())
}

// mementoURL returns the URL of the memento as of a time (URI-M).
func (p *versionHistory) mementoURL(at time.Time) string {
	return route.MementoURL(p.Base, at, p.Name.String())
}

// mementoLink returns the link to the memento of a version. more are relations before "memento", each with a
// trailing space.
func (p *versionHistory) mementoLink(index int, more string) string {
	if index == 0 {
		more = "first " + more
	}
	if index == len(p.Times)-1 {
		more = "last " + more
	}
	at := p.Times[index]
	return link(p.mementoURL(at), more+"memento", "datetime", at.Format(http.TimeFormat))
}

// links returns the value of Link for a memento, and for the redirect of the TimeGate to it: RFC 7089 section
// 2.2.
func (p *versionHistory) links(index int) string {
	all := []string{p.original(), p.timeGateLink(), link(p.timeMapURL(0), "timemap", "type", typeLinks)}
	last := len(p.Times) - 1
	if index > 1 {
		all = append(all, p.mementoLink(0, ""))
	}
	if index > 0 {
		all = append(all, p.mementoLink(index-1, "prev "))
	}
	all = append(all, p.mementoLink(index, ""))
	if index < last {
		all = append(all, p.mementoLink(index+1, "next "))
	}
	if index < last-1 {
		all = append(all, p.mementoLink(last, ""))
	}
	return strings.Join(all, ", ")
}
