package editor

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/service"
)

// pathClashes is the path of the conflicts of an import.
const pathClashes = pathJob + "/conflicts"

// clashesShown is the page size of conflicts.
const clashesShown = 10

// clashesPage is the data of the page with the conflicts of an import.
type clashesPage struct {
	Field       pages.Content
	Path        string
	Clashes     []clash
	MayChange   bool
	Error       pages.Content
	First, Next string
}

// clash is a conflict between three versions of a name: the one that the imported record was made from, the
// current one, and the imported record.
type clash struct {
	jobs.Conflict
	Page    string
	Now     registry.Entry
	IsOver  bool // the name has changed since the import: nothing can be chosen
	HasOld  bool // the version that the record was made from is known
	Rows    []threeWay
	Chosen  bool
	ChoiceN string // name of the form field
}

// serveClashes shows the conflicts of an import one by one, and overwrites the chosen ones.
func (e *Editor) serveClashes(p *Request) (message.Reply, error) {
	path := PathJobs + "/" + p.ID + "/conflicts"
	number, _ := strconv.Atoi(p.URL.Query().Get("page"))
	number = max(number, 1)
	found, more, err := e.Service.Conflicts(p.Context(), p.Actor, p.ID, (number-1)*clashesShown, clashesShown)
	if err != nil {
		return message.Reply{}, err
	}
	to := func(number int) string { return pageOf(path, url.Values{"page": {strconv.Itoa(number)}}) }
	page := clashesPage{
		Field: p.Field.HTML(), Path: to(number),
		MayChange: service.ToChange.Check(p.Actor, registry.KindName) == nil,
	}
	if number > 1 {
		page.First = to(1)
	}
	if more {
		page.Next = to(number + 1)
	}
	if p.Method == http.MethodPost {
		if err = e.overwrite(p, found); err == nil {
			p.Outcome = p.Panel.Writer.T("clash.overwritten")
			return seeOther(page.Path), nil
		}
		if !e.isFormError(p, err) {
			return message.Reply{}, err
		}
		page.Error = errorContent(p.Panel.Writer, err)
	}
	for _, c := range found {
		one, err := e.clash(p, c)
		if err != nil {
			return message.Reply{}, err
		}
		page.Clashes = append(page.Clashes, one)
	}
	in := p.Panel.Writer
	p.Panel.Crumbs = []pages.Item{
		{Label: in.Text("jobs.title"), Path: PathJobs},
		{Label: in.Text("jobs.import"), Path: PathJobs + "/" + p.ID},
	}
	return withErrorStatus(e.show(p, in.Text("clash.title"), "clashes.html", page), err), nil
}

// fieldOf returns the name of the form field that selects a conflict.
func fieldOf(c *jobs.Conflict) string { return "line" + strconv.FormatInt(c.Line, 10) }

// overwrite applies the records that a form has chosen, in one transaction, unless one of the names has
// changed since the import.
func (e *Editor) overwrite(p *Request, found []jobs.Conflict) error {
	job, err := e.Service.Job(p.Context(), p.Actor, p.ID)
	if err != nil {
		return err
	}
	var edits []registry.Edit
	for i := range found {
		if c := &found[i]; p.Form.Get(fieldOf(c)) == "overwrite" {
			edits = append(edits, registry.Edit{
				Key: c.Key(), IfVersion: c.Version, Note: job.Note, Activate: c.Record.Status == registry.Active,
				Change: registry.Put(c.Record),
			})
		}
	}
	if len(edits) == 0 {
		return invalid("conflicts_none_chosen")
	}
	_, err = e.Service.Change(p.Context(), p.Actor, false, edits...)
	if errors.Is(err, registry.ErrConflict) {
		return invalidAs(registry.ErrConflict, "conflicts_changed")
	}
	return err
}

// clash returns the shown form of a conflict.
func (e *Editor) clash(p *Request, c jobs.Conflict) (shown clash, err error) {
	s := subject{c.Name, c.Prefix}
	shown = clash{
		Conflict: c, Page: s.to(pathName), Chosen: p.Form.Get(fieldOf(&c)) == "overwrite",
		ChoiceN: fieldOf(&c),
	}
	known := func(number int) (registry.Entry, bool, error) {
		entry, err := e.entry(p, s, number)
		if errors.Is(err, registry.ErrUnknown) { // it was purged
			return entry, false, nil
		}
		return entry, err == nil, err
	}
	if shown.Now, _, err = known(0); err != nil {
		return shown, err
	}
	shown.IsOver = shown.Now.Version != c.Version
	theirs, _, err := known(c.Version)
	if err != nil {
		return shown, err
	}
	old := theirs
	if c.From > 0 && c.From != c.Version {
		before, ok, err := known(c.From)
		if err != nil {
			return shown, err
		}
		if shown.HasOld = ok; ok {
			old = before
		}
	}
	in := p.Panel.Writer
	shown.Rows = threeWays(entryFacts(in, &old), entryFacts(in, &registry.Entry{Version: 1, Record: c.Record}),
		entryFacts(in, &theirs))
	for i := range shown.Rows {
		row := &shown.Rows[i]
		row.Base, row.Mine, row.Theirs = shortened(row.Base), shortened(row.Mine), shortened(row.Theirs)
	}
	return shown, nil
}

// shortened returns the lines of a field, each cut to a maximum length.
func shortened(lines []string) []string {
	const longest = 1000
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = plaintext.Shorten(line, longest)
	}
	return all
}
