package editor

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// withdrawPage is the data of the form that withdraws a name.
type withdrawPage struct {
	*editing
	Links     []pageLink
	Errors    failures
	Action    string
	Changed   pages.Content // message about a concurrent change; "" for none
	Meanwhile []difference
}

// Input returns a form field.
func (p withdrawPage) Input(id string, label pages.Content, value string, hint pages.Content, rows int) input {
	return input{ID: id, Label: label, Value: value, Hint: hint, Error: p.Errors.Of(id), Rows: rows}
}

// Form returns the values of the form.
func (p withdrawPage) Form() texts { return p.form.texts }

// serveWithdraw serves the form that withdraws a name and its preview, and withdraws it.
func (e *Editor) serveWithdraw(p *Request) (message.Reply, error) {
	s, err := existing(p)
	if err != nil {
		return message.Reply{}, err
	}
	current, err := e.entry(p, s, 0)
	if err != nil {
		return message.Reply{}, err
	}
	s.Name = current.Name
	r := &editing{Request: p, subject: s, version: current.Version, form: &nameForm{}}
	if p.Form == nil {
		if err := service.ToWithdraw.CheckKey(p.Actor, current.Key); err != nil {
			return message.Reply{}, err
		}
		if current.Status == registry.Withdrawn {
			return message.Reply{}, fmt.Errorf("%w: %s is already withdrawn; edit it to change the reason",
				registry.ErrInvalid, s.key())
		}
		return e.withdrawing(r, &withdrawPage{}), nil
	}
	r.form = typed(p.Form)
	if r.version, _ = strconv.Atoi(p.Form.Get("version")); r.version != current.Version {
		return e.withdrawConflict(r, current)
	}
	do := p.Form.Get("do")
	if do == doBack {
		return e.withdrawing(r, &withdrawPage{}), nil
	}
	changed, err := e.Service.Withdraw(p.Context(), p.Actor, do != doSave, registry.Edit{
		Key: current.Key, IfVersion: r.version, Note: r.form.Get(inNote),
		Change: registry.Withdraw(r.form.Get("reason"), lines(r.form.Get("successors"))...),
	})
	switch {
	case errors.Is(err, registry.ErrConflict):
		if current, err = e.entry(p, s, 0); err != nil {
			return message.Reply{}, err
		}
		return e.withdrawConflict(r, current)
	case err != nil && !e.isFormError(p, err):
		return message.Reply{}, err
	case err != nil:
		r.errors, r.failed = failures{failureOf(p.Panel.Writer, err, r.form)}, err
		return e.withdrawing(r, &withdrawPage{}), nil
	case do == doSave:
		p.Outcome = e.outcome(p, s, &changed[0].After, "withdraw.done")
		return seeOther(s.to(pathName)), nil
	}
	return e.show(p, p.Panel.Writer.Text("withdraw.ask", "Name", s.isolated()), "preview.html", previewPage{
		editing: r, Named: s.Shown(), Differences: differences(p.Panel.Writer, &current, &changed[0].After),
		HiddenFields: r.hiddenFields(), Action: s.to(pathWithdraw), Note: r.form.texts[inNote],
		Button: p.Panel.Writer.Text("withdraw.button"),
	}), nil
}

// redisplayWithdraw shows the form as it was submitted.
func (e *Editor) redisplayWithdraw(p *Request) (message.Reply, error) {
	s, err := existing(p)
	if err != nil {
		return message.Reply{}, err
	}
	r := &editing{Request: p, subject: s}
	r.take()
	return e.withdrawing(r, &withdrawPage{}), nil
}

// withdrawing shows the form.
func (e *Editor) withdrawing(r *editing, page *withdrawPage) message.Reply {
	page.editing, page.Errors, page.Action = r, r.errors, r.to(pathWithdraw)
	page.Links = newPageLinks(r.Request, r.subject, true, pathWithdraw)
	reply := e.show(r.Request, r.Panel.Writer.Text("withdraw.title", "Name", r.isolated()), "withdraw.html", page)
	if len(r.errors) > 0 {
		reply.Status = statusOf(r.failed)
	}
	if page.Changed != "" {
		reply.Status = http.StatusPreconditionFailed
	}
	return reply
}

// withdrawConflict shows a concurrent change, with the form as it was submitted, for the current version.
func (e *Editor) withdrawConflict(r *editing, current registry.Entry) (message.Reply, error) {
	base, err := e.entry(r.Request, r.subject, max(r.version, 1))
	if err != nil && !errors.Is(err, registry.ErrUnknown) {
		return message.Reply{}, err
	}
	r.version = current.Version
	return e.withdrawing(r, &withdrawPage{
		Changed: r.Panel.Writer.T("withdraw.meanwhile", "Version", strconv.Itoa(current.Version), "By",
			pages.Bdi(current.By), "Time", pages.Moment(current.Changed)),
		Meanwhile: differences(r.Panel.Writer, &base, &current),
	}), nil
}
