package editor

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/pages/qr"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/service"
)

// namePage is the data of the page of a name or prefix.
type namePage struct {
	api.Name
	Links  []pageLink
	Public string // URL of its page for readers, "" if unknown
	// Code is the QR code of its public URL, "" for none, and Counts its recent resolutions, nil if they are
	// not counted.
	Code    pages.Content
	Counts  *nameCounts
	Targets []shownTarget
	// HasHealth is true if the health of one of the targets is known.
	HasHealth bool
	Facts     []field.FormattedField // the other fields
	AliasOf   string                 // path of the page of the name that it is an alias of
}

// nameCounts is the number of resolutions of a name in the last days.
type nameCounts struct {
	Days         int
	People, Bots int64
	Page         string // path of the statistics page
}

// daysCounted is the number of days in nameCounts.
const daysCounted = 30

// shownTarget is a target with its health.
type shownTarget struct {
	registry.Target
	Link    string // "" for a URI that browsers cannot open
	State   health.State
	Checked time.Time
	lines   []pages.Content
}

// About returns the fields of a target, one per line.
func (t shownTarget) About() []pages.Content { return t.lines }

// aboutTarget returns the fields of a target, one per line.
func aboutTarget(in pages.Writer, t *registry.Target) (lines []pages.Content) {
	for _, f := range field.TargetFields().Ordered("title", "rel", "type", "language", "context", "priority", "from",
		"until", "note") {
		if f.Name == inURI || f.Empty(t) {
			continue
		}
		line := pages.Bdi(f.Lines(t)[0])
		switch f.Name {
		case "title", "rel", "type", "language", "note":
		case "from":
			line = in.T("entry.from", "Time", pages.Moment(t.From))
		case "until":
			line = in.T("entry.until", "Time", pages.Moment(t.Until))
		default:
			line = in.T("label."+f.Name) + in.T("frame.colon") + line
		}
		lines = append(lines, line)
	}
	return lines
}

// serveName shows all fields of a name or prefix.
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
	page := namePage{Name: n, Links: newPageLinks(p, s, n.Status == registry.Withdrawn, pathName)}
	if e.PublicURL != "" && !s.IsPrefix {
		address := e.PublicURL + "/" + strings.NewReplacer("?", "%3F", "#", "%23").Replace(n.Name)
		page.Public = address + "?preview"
		// Otherwise it is too long for a QR code.
		if code, err := qr.SVG(address, p.Panel.Writer.Text("name.qr_code")); err == nil {
			page.Code = pages.Content(code)
		}
	}
	if !s.IsPrefix && service.ToRead.CheckKey(p.Actor, s.key()) == nil {
		page.Counts = e.counts(p, s)
	}
	if n.Alias != "" {
		page.AliasOf = subject{Name: n.Alias}.to(pathName)
	}
	in := p.Panel.Writer
	elsewhere := []string{labelOf(in, "targets"), labelOf(in, "status"), labelOf(in, "alias")}
	for _, f := range entryFacts(in, &entry) {
		if len(f.Lines) > 0 && !slices.Contains(elsewhere, f.Label) {
			page.Facts = append(page.Facts, f)
		}
	}
	page.Targets = e.targets(p, s, n.Targets)
	page.HasHealth = slices.ContainsFunc(page.Targets, func(t shownTarget) bool { return t.State != "" })
	return e.show(p, s.isolated(), "name.html", page), nil
}

// targets returns the shown form of targets. They are shown even if their health cannot be read.
func (e *Editor) targets(p *Request, s subject, all []registry.Target) (shown []shownTarget) {
	var known []health.Target
	if !s.IsPrefix && len(all) > 0 {
		var err error
		if known, _, err = e.Service.Health(p.Context(), p.Actor, s.Name, "", service.Page{}); err != nil {
			e.Failed(p.Request, p.Actor, err)
		}
	}
	for _, t := range all {
		one := shownTarget{Target: t, Link: linkOf(t.URI), lines: aboutTarget(p.Panel.Writer, &t)}
		for _, h := range known {
			if h.Name == s.Name && h.URI == t.URI {
				one.State, one.Checked = h.State, h.Checked
			}
		}
		shown = append(shown, one)
	}
	return shown
}

// counts returns the recent resolutions of a name, nil if they cannot be read.
func (e *Editor) counts(p *Request, s subject) *nameCounts {
	until := e.Service.Now().UTC()
	days := map[string]string{
		"since": until.AddDate(0, 0, 1-daysCounted).Format(time.DateOnly),
		"until": until.Format(time.DateOnly),
	}
	from, to, err := service.ParseDays(func(name string) string { return days[name] })
	var found []registry.Count
	if err == nil {
		_, found, err = e.Service.Counts(p.Context(), p.Actor, s.key(), from, to)
	}
	if err != nil {
		e.Failed(p.Request, p.Actor, err)
		return nil
	}
	made := &nameCounts{
		Days: daysCounted,
		Page: PathStatistics + "?" + url.Values{"uri": {s.Name}}.Encode() + "#resolutions",
	}
	for _, c := range found {
		made.People, made.Bots = made.People+c.People, made.Bots+c.Bots
	}
	return made
}

// linkOf returns the URI of a target if browsers can open it, otherwise "".
func linkOf(target string) string {
	if strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://") {
		return target
	}
	return ""
}

// Paths of the pages of a name or prefix.
const (
	pathName     = "/registry/name"
	pathEdit     = "/registry/edit"
	pathHistory  = "/registry/history"
	pathWithdraw = "/registry/withdraw"
)

// kindPrefix is the value of the parameter "kind" for prefixes; "" and "name" are for names.
const kindPrefix = "prefix"

// subject is the name or prefix that a page is about.
type subject struct {
	Name     string
	IsPrefix bool
}

// subjectOf returns the subject of a request; its Name is "" if the request has none.
func subjectOf(p *Request) (s subject, err error) {
	q := p.URL.Query()
	switch s.Name = q.Get("uri"); q.Get("kind") {
	case "", "name":
	case kindPrefix:
		s.IsPrefix = true
	default:
		err = fmt.Errorf("%w: kind must be name or prefix", problem.ErrSelection)
	}
	under(p, s)
	return s, err
}

// existing is subjectOf for pages that require a name.
func existing(p *Request) (subject, error) {
	s, err := subjectOf(p)
	if err == nil && s.Name == "" {
		err = fmt.Errorf("%w: uri is required", problem.ErrSelection)
	}
	return s, err
}

func (s subject) key() registry.Key {
	if s.IsPrefix {
		return registry.Prefix(s.Name)
	}
	return registry.Name(s.Name)
}

// Shown returns the name for display, with "*" for a prefix.
func (s subject) Shown() string {
	if s.IsPrefix {
		return s.Name + "*"
	}
	return s.Name
}

// isolated returns Shown with Unicode isolation, for the title of a page.
func (s subject) isolated() string { return pages.Isolated(s.Shown()) }

// under sets the breadcrumb of the pages of a name.
func under(p *Request, s subject) {
	if !s.IsPrefix {
		p.Panel.Crumbs = []pages.Item{{Label: p.Panel.Writer.Text("editor.names"), Path: PathNames}}
	}
}

// to returns the URL of a page about the subject, with additional parameters as pairs of name and value.
func (s subject) to(path string, more ...[2]string) string {
	q := make(url.Values)
	if s.Name != "" {
		q.Set("uri", s.Name)
	}
	if s.IsPrefix {
		q.Set("kind", kindPrefix)
	}
	for _, m := range more {
		q.Set(m[0], m[1])
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// To is to for templates.
func (s subject) To(path string) string { return s.to("/registry/" + path) }

// pageLink is a link to a page of a subject.
type pageLink struct{ Label, Target string }

// newPageLinks returns links to the pages of a subject, except for one, that the actor may visit.
func newPageLinks(p *Request, s subject, withdrawn bool, but string) (all []pageLink) {
	in := p.Panel.Writer
	for _, l := range []struct {
		path, word string
		is         bool
	}{
		{pathName, in.Text("editor.all"), true},
		{pathEdit, in.Text("editor.edit"), service.ToChange.CheckKey(p.Actor, s.key()) == nil},
		{pathHistory, in.Text("editor.history"), true},
		{pathWithdraw, in.Text("editor.withdraw"), !withdrawn && service.ToWithdraw.CheckKey(p.Actor, s.key()) == nil},
	} {
		if l.is && l.path != but {
			all = append(all, pageLink{Label: l.word, Target: s.to(l.path)})
		}
	}
	return all
}

// seeOther redirects after a form, so that reloading the page does not submit it again.
func seeOther(target string) message.Reply {
	return message.Reply{Status: http.StatusSeeOther, Location: target, CacheControl: message.NoStore}
}
