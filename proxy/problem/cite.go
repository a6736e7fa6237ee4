package problem

import (
	"strings"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/route"
)

// cite sets the title and the citation of a withdrawn name, and the page with more about it.
func cite(p *api.Problem) {
	const longest = 500 // maximum length in bytes of a name that a link repeats
	r := p.Record
	if r == nil || r.Status != represent.Withdrawn || p.Input == "" || len(p.Input) > longest {
		return
	}
	p.Page = string(route.AppendServiceURL(nil, "", "2C", "html", p.Input))
	if isPrefix(r.Name) { // the record applies to all names with the prefix
		return
	}
	since, err := time.Parse(time.RFC3339, r.Since)
	if err != nil {
		return
	}
	p.Called = represent.TitleOf(string(r.Metadata))
	p.Citation = strings.TrimSpace(string(represent.Citation(represent.Work{
		Name: p.Input, Status: r.Status, Since: since, Reason: r.Reason,
		Metadata: represent.ParseMetadata(string(r.Metadata)),
	})))
}

// isPrefix reports whether the name of a record is a prefix of names: it ends with neither a letter nor a
// digit.
func isPrefix(name string) bool {
	if name == "" {
		return true
	}
	end := name[len(name)-1]
	return (end|0x20 < 'a' || end|0x20 > 'z') && (end < '0' || end > '9')
}
