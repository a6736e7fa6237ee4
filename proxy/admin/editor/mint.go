package editor

import (
	"net/http"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry/mint"
)

// pathMint is where the next free name of a pattern is reserved.
const pathMint = "/registry/mint"

// mintPage is what the page of the next free name shows.
type mintPage struct {
	Field    pages.Content
	Prefix   string
	Patterns []nextName
	Pattern  string // that was typed, or is offered
	Fault    pages.Content
}

// nextName is the next free name of a pattern that is in use, "" where there is none.
type nextName struct{ Pattern, Name string }

// shownPatterns bounds the patterns of which the next name is looked for.
const shownPatterns = 20

// serveMint shows the next free names of patterns, and reserves one: then its form is filled in.
func (e *Editor) serveMint(p *Request) (message.Reply, error) {
	if p.Method != http.MethodPost {
		return e.showMint(p, nil)
	}
	pattern := p.Form.Get("pattern")
	if pattern == "" {
		pattern = strings.TrimSpace(p.Form.Get("other"))
	}
	names, err := e.Service.Mint(p.Context(), p.Actor, mint.Request{Pattern: pattern, N: 1})
	switch {
	case err == nil:
		return seeOther(subject{Name: names[0]}.to(pathEdit)), nil
	case e.refuses(p, err):
		return e.showMint(p, err)
	default:
		return message.Reply{}, err
	}
}

// mintAgain shows the form as it was sent.
func (e *Editor) mintAgain(p *Request) (message.Reply, error) { return e.showMint(p, nil) }

// showMint shows the patterns that are in use below a prefix, with their next names.
func (e *Editor) showMint(p *Request, fault error) (message.Reply, error) {
	page := mintPage{Field: p.Field.HTML(), Prefix: ownPrefix(p, p.URL.Query().Get("prefix")), Pattern: p.Form.Get("other")}
	patterns, err := e.Service.MintPatterns(p.Context(), p.Actor, page.Prefix)
	if err != nil {
		return message.Reply{}, err
	}
	for _, pattern := range patterns[:min(len(patterns), shownPatterns)] {
		next := nextName{Pattern: pattern}
		changes, err := e.Service.PreviewMint(p.Context(), p.Actor, mint.Request{Pattern: pattern, N: 1})
		if err == nil && len(changes) > 0 { // or all are taken
			next.Name = changes[0].After.Name
		}
		page.Patterns = append(page.Patterns, next)
	}
	if page.Pattern == "" && page.Prefix != "" {
		page.Pattern = page.Prefix + "{counter}"
	}
	if fault != nil {
		page.Fault = saidOf(p.Panel.In, fault)
	}
	p.Panel.Above = []pages.Item{{Word: p.Panel.In.Text("found.title"), Path: PathNames}}
	reply := e.show(p, p.Panel.In.Text("mint.title"), "mint.html", page)
	if fault != nil {
		reply.Status = problem.Status(fault)
	}
	return reply, nil
}
