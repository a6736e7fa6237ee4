package editor

import (
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/service"
)

// PathJobs is the path of the jobs.
const PathJobs = "/registry/jobs"

const (
	pathJob       = PathJobs + "/{id}"
	pathJobScript = "/registry/jobs.js"
	apiJobs       = "/api/v1/jobs"
)

// jobsShown is the page size of jobs.
const jobsShown = 50

// jobsPage is the data of the list of jobs.
type jobsPage struct {
	Jobs      []jobs.Job
	Next      string // path of the next page
	MayImport bool
}

// serveJobs lists the jobs, the newest first.
func (e *Editor) serveJobs(p *Request) (message.Reply, error) {
	all, err := e.Service.Jobs(p.Context(), p.Actor)
	if err != nil {
		return message.Reply{}, err
	}
	number, _ := strconv.Atoi(p.URL.Query().Get("page"))
	number = min(max(number, 1), len(all)/jobsShown+2)
	page := jobsPage{Jobs: all[min(len(all), (number-1)*jobsShown):], MayImport: e.mayImport(p)}
	if number > len(all)/jobsShown+1 {
		page.Jobs = nil
	}
	if len(page.Jobs) > jobsShown {
		page.Jobs, page.Next = page.Jobs[:jobsShown], PathJobs+"?page="+strconv.Itoa(number+1)
	}
	return e.show(p, p.Panel.Writer.Text("jobs.title"), "jobs.html", page), nil
}

// mayImport reports whether the actor of a request may import.
func (e *Editor) mayImport(p *Request) bool {
	return e.Service.HasJobs() && service.ToImport.Check(p.Actor, registry.KindName) == nil
}

// jobPage is the data of the page of a job.
type jobPage struct {
	jobs.Job
	Field          pages.Content
	Path           string
	IsRewrite      bool
	HasEnded       bool
	At, Of         int64  // progress; Of is 0 if the total is unknown
	Draft          string // path of the form that carries out a dry run, "" for none
	MayCancel      bool
	MayImport      bool
	Differences    []diff.Change // the first ones
	HasDifferences bool
	Rejected       []shownRejection
	API            string
	Clashes        string        // path of its conflicts, "" for none
	Again          pages.Content // link to the form that starts such a job again
}

// shownRejection is a rejected record.
type shownRejection struct {
	Line   int64
	Reason pages.Content
	Input  string
}

// serveJob shows a job, and cancels it.
func (e *Editor) serveJob(p *Request) (message.Reply, error) {
	path := PathJobs + "/" + p.ID
	if p.Method == http.MethodPost {
		return e.cancelJob(p, path)
	}
	job, err := e.Service.Job(p.Context(), p.Actor, p.ID)
	if err != nil {
		return message.Reply{}, err
	}
	page := jobPage{Job: job, Field: p.Field.HTML(), Path: path, API: apiJobs + "/" + p.ID}
	for i := range page.Rejections {
		r := &page.Rejections[i]
		shown := shownRejection{Line: r.Line, Input: plaintext.Shorten(r.Input, maxReason)}
		if r.Code != "" {
			shown.Reason = p.Panel.Writer.Message(r.Code, r.Values...)
			if r.RuleCode != "" {
				shown.Reason += " " + p.Panel.Writer.Rule(r.RuleCode, r.RuleValue)
			}
		} else {
			shown.Reason = `<span lang="en" dir="auto">` + pages.Escaped(plaintext.Shorten(r.Reason, maxReason)) +
				"</span>"
		}
		page.Rejected = append(page.Rejected, shown)
	}
	page.IsRewrite = page.Format == jobs.Rewrite
	page.HasEnded = hasEnded(page.State)
	page.MayImport = e.mayImport(p)
	page.MayCancel = !page.HasEnded && page.MayImport
	e.lead(p, &page)
	if page.At, page.Of = page.Progress.Bytes, page.Size; page.Progress.Total > 0 {
		page.At, page.Of = page.Progress.Done, page.Progress.Total
	}
	if page.DryRun && page.State == jobs.Done {
		page.HasDifferences = true
		page.Differences = e.differences(p)
		if d, ok := e.Drafts.checkedBy(p, p.ID); ok && page.MayImport {
			page.Draft = draftPath(d)
		}
	}
	p.Panel.Crumbs = []pages.Item{{Label: p.Panel.Writer.Text("jobs.title"), Path: PathJobs}}
	if !page.HasEnded {
		p.Panel.Script = pathJobScript
	}
	return e.show(p, p.Panel.Writer.Text(page.title()), "job.html", page), nil
}

// lead sets the links on the page of a job.
func (e *Editor) lead(p *Request, page *jobPage) {
	// The conflicts may be stored by another instance.
	if clashes, _, err := e.Service.Conflicts(p.Context(), p.Actor, p.ID, 0, 1); err == nil && len(clashes) > 0 {
		page.Clashes = page.Path + "/conflicts"
	}
	again := PathImport
	if page.IsRewrite {
		again = PathMove
	}
	page.Again = pages.Content(`<a href="`+again+`">`) + p.Panel.Writer.T("jobs.begin_again") + "</a>"
}

// hasEnded reports whether a job is in a final state.
func hasEnded(s jobs.State) bool { return s == jobs.Done || s == jobs.Failed || s == jobs.Cancelled }

// cancelJob cancels a job. A job that has ended meanwhile is shown.
func (e *Editor) cancelJob(p *Request, path string) (message.Reply, error) {
	if _, err := e.Service.Cancel(p.Context(), p.Actor, p.ID); err != nil && !errors.Is(err, registry.ErrJobEnded) {
		return message.Reply{}, err
	}
	if job, err := e.Service.Job(p.Context(), p.Actor, p.ID); err == nil && job.State != jobs.Done {
		p.Outcome = p.Panel.Writer.T("jobs.cancelled")
	}
	return seeOther(path), nil
}

// title returns the message identifier of the title.
func (j *jobPage) title() string {
	switch {
	case j.IsRewrite && j.DryRun:
		return "jobs.rewrite_dry"
	case j.IsRewrite:
		return "jobs.rewrite"
	case j.DryRun:
		return "jobs.import_dry"
	default:
		return "jobs.import"
	}
}

const (
	differencesShown = 20
	// maxShown limits the bytes of shown differences, and maxReason those of a rejected record and of its
	// reason.
	maxShown       = 8 << 10
	maxReason      = 250
	maxDifferences = 64 << 10 // bytes of differences that are read
	maxDifference  = 300      // bytes of a value that are shown
)

// differences returns the first differences of a dry run, none if another instance stores them.
func (e *Editor) differences(p *Request) (first []diff.Change) {
	f, err := e.Service.Differences(p.Context(), p.Actor, p.ID)
	if err != nil {
		e.Failed(p.Request, p.Actor, err)
		return nil
	}
	defer f.Close()
	lines := json.NewDecoder(io.LimitReader(f, maxDifferences))
	for shown := 0; len(first) < differencesShown && shown < maxShown; {
		var d diff.Change
		if lines.Decode(&d) != nil {
			break
		}
		if d.Name == "" { // the counts at the end
			continue
		}
		for i := range d.Differences {
			f := &d.Differences[i]
			f.Field = labelNamed(p.Panel.Writer, f.Field)
			f.Before, f.After = plaintext.Shorten(f.Before, maxDifference), plaintext.Shorten(f.After, maxDifference)
			shown += len(f.Before) + len(f.After)
		}
		first = append(first, d)
	}
	return first
}

// labelNamed returns the translated label for the English label in a difference.
func labelNamed(in pages.Writer, label string) string {
	name, isOrder := strings.CutPrefix(label, field.OrderPrefix)
	for _, f := range field.RecordFields() {
		switch {
		case f.Label == name && isOrder:
			return labelOf(in, f.Name) + " (" + in.Text("editor.another_order") + ")"
		case f.Label == name:
			return labelOf(in, f.Name)
		}
	}
	return label
}

//go:embed job.js
var jobScript []byte

// serveJobScript serves the script that shows the progress of a job.
func (e *Editor) serveJobScript(p *Request) (message.Reply, error) {
	if p.Method == http.MethodPost {
		return message.Reply{}, problem.NotAllowed(p.Method, "GET, HEAD")
	}
	return message.Reply{
		Status: http.StatusOK, ContentType: "text/javascript; charset=utf-8", CacheControl: "no-cache",
		Body: jobScript,
	}, nil
}
