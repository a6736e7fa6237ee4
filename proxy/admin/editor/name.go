package editor

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/service"
)

// namePage is what the page of a name or prefix shows.
type namePage struct {
	api.Name
	Done    string
	Leads   []lead
	Public  string // its page for readers, "" where that is not known
	Targets []shownTarget
	// HasHealth is whether the health of one of the targets is known.
	HasHealth bool
	Facts     []field.Fact // all else
	AliasOf   string       // the page of the name that it is an alias of
}

// shownTarget is a target with what is known of its health.
type shownTarget struct {
	registry.Target
	Link           string // "" for what no browser opens
	State, Checked string
}

// About is all that is known of a target, a line each.
func (t shownTarget) About() (lines []string) {
	for _, f := range field.OfTarget().Ordered("title", "rel", "type", "language", "context", "priority", "from", "until", "note") {
		if f.Name == inURI || f.Empty(&t.Target) {
			continue
		}
		line := f.Lines(&t.Target)[0]
		switch f.Name {
		case "title", "rel", "type", "language", "note":
		case "context":
			line = "for " + line
		case "from", "until": // to the minute
			line = f.Label + " " + strings.Replace(line[:len("2006-01-02T15:04")], "T", " ", 1)
		default:
			line = f.Label + " " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// outcome is what a page says after a change, by the word of the address: nobody can make it say something else.
func outcome(word string) string {
	return map[string]string{
		"saved":      "The change is saved.",
		"registered": "It is registered.",
		"withdrawn":  "It is withdrawn.",
		"reverted":   "The change set is taken back by this one.",
		"partly":     "The change set is taken back by this one, but for what was changed again since or cannot be as it was.",
		"nothing":    "Nothing was taken back.",
	}[word]
}

// serveName shows all that the registry has of a name or prefix.
func (e *Editor) serveName(p *Request) (message.Reply, error) {
	s, err := existing(p)
	if err != nil {
		return message.Reply{}, err
	}
	entry, err := e.entry(p, s, 0)
	if err != nil {
		return message.Reply{}, err
	}
	n := api.NewName(entry)
	s.Name = n.Name
	page := namePage{
		Name: n, Done: outcome(p.URL.Query().Get("done")), Leads: leads(p, s, n.Status == registry.Withdrawn, pathName),
	}
	if e.Public != "" && !s.IsPrefix {
		page.Public = e.Public + "/" + strings.NewReplacer("?", "%3F", "#", "%23").Replace(n.Name) + "?preview"
	}
	if n.Alias != "" {
		page.AliasOf = subject{Name: n.Alias}.to(pathName)
	}
	for _, f := range entryFacts(&entry) {
		if len(f.Lines) > 0 && f.Label != "Targets" && f.Label != "Status" && f.Label != "Alias of" {
			page.Facts = append(page.Facts, f)
		}
	}
	page.Targets = e.targets(p, s, n.Targets)
	page.HasHealth = slices.ContainsFunc(page.Targets, func(t shownTarget) bool { return t.State != "" })
	return e.show(p, s.title(""), "name.html", page), nil
}

// targets returns what a page shows of targets. That their health cannot be found out keeps nobody from seeing them.
func (e *Editor) targets(p *Request, s subject, all []registry.Target) (shown []shownTarget) {
	var known []health.Target
	if !s.IsPrefix && len(all) > 0 {
		var err error
		if known, _, err = e.Service.Health(p.Context(), p.Actor, s.Name, "", service.Page{}); err != nil {
			e.Failed(p.Request, p.Actor, err)
		}
	}
	for _, t := range all {
		one := shownTarget{Target: t, Link: linkOf(t.URI)}
		for _, h := range known {
			if h.Name == s.Name && h.URI == t.URI {
				one.State, one.Checked = string(h.State), h.Checked.UTC().Format("2006-01-02 15:04")
			}
		}
		shown = append(shown, one)
	}
	return shown
}

// linkOf returns the URI of a target that browsers open, "" of others.
func linkOf(target string) string {
	if strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://") {
		return target
	}
	return ""
}
