package editor

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/service"
)

// Values of the submit buttons of the form of a name.
const (
	doPreview    = "preview" // the default: pressing Enter shows the preview
	doAdd        = "add"     // one more target
	doBack       = "back"    // from the preview to the form
	doSave       = "save"
	doMerge      = "merge" // continue from the concurrent change
	doSuggestion = "meant" // followed by the number of a target: accept the suggested URI
)

// editing is a request to change or register a name.
type editing struct {
	*Request
	subject
	isNew bool
	form  *nameForm
	// version is the version that the form was made from, 0 for a new name; the form is merged as a change of
	// it.
	version int
	errors  failures
	failed  error // why the change was rejected
}

// serveEdit serves the form of a name or prefix and its preview, and saves it.
func (e *Editor) serveEdit(p *Request) (message.Reply, error) {
	s, err := subjectOf(p)
	if err != nil {
		return message.Reply{}, err
	}
	r := &editing{Request: p, subject: s, isNew: s.Name == ""}
	if p.Form == nil {
		return e.begin(r)
	}
	r.take()
	do, number, _ := strings.Cut(p.Form.Get("do"), " ")
	switch do {
	case doSuggestion:
		if i, err := strconv.Atoi(number); err == nil && 0 <= i && i < len(r.form.Targets) {
			t := r.form.Targets[i]
			t[inURI] = cmp.Or(suggestedTarget(t[inURI], r.IsPrefix), t[inURI])
		}
		return e.check(r, e.preview)
	case doAdd:
		return e.form(r, spareTargets), nil
	case doBack:
		return e.form(r, 0), nil
	case doMerge:
		return e.merge(r)
	case doSave:
		return e.check(r, e.save)
	default:
		return e.check(r, e.preview)
	}
}

// redisplayEdit shows the form as it was submitted.
func (e *Editor) redisplayEdit(p *Request) (message.Reply, error) {
	s, err := subjectOf(p)
	if err != nil {
		return message.Reply{}, err
	}
	r := &editing{Request: p, subject: s, isNew: s.Name == ""}
	r.take()
	return e.form(r, 0), nil
}

// take reads the submitted form.
func (r *editing) take() {
	r.form = typed(r.Form)
	r.form.isPrefix = r.IsPrefix
	r.version, _ = strconv.Atoi(r.Form.Get("version")) // a version other than the current one is rejected
	if r.isNew {
		r.Name, r.version = strings.TrimSpace(r.Form.Get("name")), 0
	}
}

// begin shows the form of the current version, of a former one, or of a new name.
func (e *Editor) begin(r *editing) (message.Reply, error) {
	if r.isNew {
		r.Name = r.URL.Query().Get("name")
		r.form = &nameForm{texts: texts{"status": registry.Active.String()}}
		return e.form(r, spareTargets), nil
	}
	current, err := e.entry(r.Request, r.subject, 0)
	if err != nil {
		return message.Reply{}, err
	}
	r.Name = current.Name
	if err := service.ToChange.CheckKey(r.Actor, current.Key); err != nil {
		return message.Reply{}, err
	}
	r.version, r.form = current.Version, formOf(documentOf(current))
	if text := r.URL.Query().Get("restore"); text != "" {
		number, err := strconv.Atoi(text)
		if err != nil || number < 1 {
			return message.Reply{}, fmt.Errorf("%w: restore must be the number of a version", problem.ErrSelection)
		}
		former, err := e.entry(r.Request, r.subject, number)
		if err != nil {
			return message.Reply{}, err
		}
		was := r.form.texts[inWas]
		r.form = formOf(documentOf(former))
		r.form.texts[inWas] = was // the status of the current version, not of the former one
		r.form.texts[inNote] = r.Panel.Writer.Text("edit.note_again", "Version", strconv.Itoa(former.Version))
	}
	return e.form(r, spareTargets), nil
}

// check calls next if the form is valid and the name has not changed since the form was shown; otherwise it
// shows the form with errors, or the conflict.
func (e *Editor) check(
	r *editing, next func(r *editing, current registry.Entry, made document) (message.Reply, error),
) (message.Reply, error) {
	if r.Name == "" {
		r.errors.add("name", r.Panel.Writer.T("invalid.no_name"))
		return e.form(r, 0), nil
	}
	var current registry.Entry
	if !r.isNew {
		var err error
		if current, err = e.entry(r.Request, r.subject, 0); err != nil {
			return e.refused(r, err)
		}
		if current.Version != r.version {
			return e.conflict(r, current)
		}
	}
	made, wrong := r.form.document(r.Panel.Writer, r.subject, documentOf(current))
	if r.errors = append(r.errors, wrong...); len(r.errors) > 0 {
		return e.form(r, 0), nil
	}
	return next(r, current, made)
}

// preview shows what the change would do, and asks for confirmation.
func (e *Editor) preview(r *editing, current registry.Entry, made document) (message.Reply, error) {
	after, err := e.put(r.Request, r.subject, made, r.version, true)
	if err != nil {
		return e.refused(r, err)
	}
	page := previewPage{
		editing: r, Named: subject{after.Name, r.IsPrefix}.Shown(),
		Differences: differences(r.Panel.Writer, &current, &after), HiddenFields: r.hiddenFields(), Action: r.action(),
		Note: r.form.texts[inNote], Button: r.Panel.Writer.Text("edit.save"),
	}
	if warning := e.Service.Warning(after.Key); warning != nil {
		page.Warning = r.Panel.Writer.T("edit.warning", "Reason",
			`<bdi lang="en">`+pages.Escaped(warning.Error())+"</bdi>")
	}
	return e.show(r.Request, r.Panel.Writer.Text("edit.save_title", "Name", subject{after.Name, r.IsPrefix}.isolated()),
		"preview.html", page), nil
}

// previewPage is the data of the preview of a change.
type previewPage struct {
	*editing
	Named        string // the canonical name
	Warning      pages.Content
	Differences  []difference
	HiddenFields [][2]string
	Action       string
	Note         string
	Button       string
}

// save makes the change.
func (e *Editor) save(r *editing, _ registry.Entry, made document) (message.Reply, error) {
	after, err := e.put(r.Request, r.subject, made, r.version, false)
	if err != nil {
		return e.refused(r, err)
	}
	r.Name = after.Name
	id := "edit.saved"
	if r.isNew {
		id = "edit.registered"
	}
	r.Outcome = e.outcome(r.Request, r.subject, &after, id)
	return seeOther(r.to(pathName)), nil
}

// refused shows the form again with the error, or the conflict with a concurrent change.
func (e *Editor) refused(r *editing, err error) (message.Reply, error) {
	if !e.isFormError(r.Request, err) {
		return message.Reply{}, err
	}
	if errors.Is(err, registry.ErrConflict) {
		if !r.isNew {
			current, failed := e.entry(r.Request, r.subject, 0)
			if failed != nil {
				return message.Reply{}, failed
			}
			return e.conflict(r, current)
		}
		r.errors, r.failed = append(r.errors, failure{"name", r.Panel.Writer.T("invalid.registered")}), err
		return e.form(r, 0), nil
	}
	found := failureOf(r.Panel.Writer, err, r.form)
	if found.Field == targetField(0, inURI) && len(r.form.Targets) == 0 {
		found.Field = ""
	}
	if found.Field == "" && r.isNew && problem.Status(err) < http.StatusInternalServerError {
		found.Field = "name"
	}
	r.errors, r.failed = append(r.errors, found), err
	return e.form(r, 0), nil
}

// form shows the form, with more empty targets.
func (e *Editor) form(r *editing, more int) message.Reply {
	shown := *r.form
	shown.Targets = slices.DeleteFunc(slices.Clone(shown.Targets),
		func(t texts) bool { return len(r.errors) == 0 && t.empty() })
	if len(shown.Targets) == 0 {
		more = max(more, 1)
	}
	for range min(more, maxTargetForms-len(shown.Targets)) {
		shown.Targets = append(shown.Targets, texts{})
	}
	in := r.Panel.Writer
	title := in.Text("edit.title", "Name", r.isolated())
	switch {
	case r.isNew && r.IsPrefix:
		title = in.Text("edit.title_new_prefix")
	case r.isNew:
		title = in.Text("edit.title_new")
	}
	reply := e.show(r.Request, title, "edit.html",
		editPage{editing: r, Form: &shown, Action: r.action(), Errors: r.errors})
	if len(r.errors) > 0 {
		reply.Status = statusOf(r.failed)
	}
	return reply
}

// action returns the URL to which the form is posted.
func (r *editing) action() string {
	if r.isNew {
		return subject{IsPrefix: r.IsPrefix}.to(pathEdit)
	}
	return r.to(pathEdit)
}

// hiddenFields returns the hidden fields that preserve the form on another page.
func (r *editing) hiddenFields() [][2]string {
	all := append(r.form.hidden(), [2]string{"version", strconv.Itoa(r.version)})
	if r.isNew {
		all = append(all, [2]string{"name", r.Name})
	}
	return all
}

// conflict shows the conflict with a concurrent change.
func (e *Editor) conflict(r *editing, current registry.Entry) (message.Reply, error) {
	// base does not exist if it was purged, and registered again.
	base, err := e.entry(r.Request, r.subject, max(r.version, 1))
	if err != nil && !errors.Is(err, registry.ErrUnknown) {
		return message.Reply{}, err
	}
	in := r.Panel.Writer
	mine, _ := r.form.document(in, r.subject, documentOf(base))
	reply := e.show(r.Request, in.Text("conflict.title", "Name", r.isolated()), "conflict.html", conflictPage{
		editing: r, Current: current.Version, By: current.By, When: current.Changed, Why: current.Note,
		Rows:         threeWays(entryFacts(in, &base), mine.facts(in), entryFacts(in, &current)),
		HiddenFields: r.hiddenFields(), Action: r.action(),
	})
	reply.Status = http.StatusPreconditionFailed
	return reply, nil
}

// conflictPage is the data of the page of a conflict.
type conflictPage struct {
	*editing
	Current      int
	By, Why      string
	When         time.Time
	Rows         []threeWay
	HiddenFields [][2]string
	Action       string
}

// threeWay is a field that one or both of two changes have changed.
type threeWay struct {
	Field              string
	Base, Theirs, Mine []string
	IsBoth             bool // both have changed it, to different values
}

// threeWays returns the fields in which one or both of two changes differ from the base.
func threeWays(was, own, now []field.FormattedField) (all []threeWay) {
	a, b, c := field.LinesOf(was), field.LinesOf(now), field.LinesOf(own)
	seen := make(map[string]bool)
	for _, fact := range slices.Concat(was, now, own) {
		f := fact.Label
		if seen[f] {
			continue
		}
		seen[f] = true
		row := threeWay{Field: f, Base: a[f], Theirs: b[f], Mine: c[f]}
		changed := [2]bool{!slices.Equal(row.Base, row.Theirs), !slices.Equal(row.Base, row.Mine)}
		if row.IsBoth = changed[0] && changed[1] && !slices.Equal(row.Theirs, row.Mine); changed[0] || changed[1] {
			all = append(all, row)
		}
	}
	return all
}

// merge shows the form merged into the current version.
func (e *Editor) merge(r *editing) (message.Reply, error) {
	current, err := e.entry(r.Request, r.subject, 0)
	if err != nil {
		return message.Reply{}, err
	}
	base, err := e.entry(r.Request, r.subject, max(r.version, 1))
	if err != nil && !errors.Is(err, registry.ErrUnknown) {
		return message.Reply{}, err
	}
	was := documentOf(base)
	mine, wrong := r.form.document(r.Panel.Writer, r.subject, was)
	if len(wrong) > 0 { // an invalid form is preserved: the merge is repeated when it is corrected
		r.errors = wrong
		return e.form(r, 0), nil
	}
	note := r.form.texts[inNote]
	r.form, r.version = formOf(merged(was, mine, documentOf(current))), current.Version
	r.form.texts[inNote], r.form.texts[inWas] = note, current.Status.String() // not the status of the merged document
	return e.form(r, 0), nil
}
