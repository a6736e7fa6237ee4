package editor

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// doUndo is the button that takes back the current version.
const doUndo = "undo"

// savedPage is what a page says of what was done by the form before it, with the button that takes it back.
type savedPage struct {
	subject
	Said   pages.Content
	Field  pages.Content
	Action string
	// Version is the one that was made, and IsUndone whether it can be taken back: there is one before it.
	Version  int
	IsUndone bool
}

// outcome returns what a message says of a name that was changed.
func (e *Editor) outcome(p *Request, s subject, after *registry.Entry, id string) pages.Content {
	s.Name = after.Name
	in := p.Panel.In
	return e.contents.Make(in.Language(), "saved.html", savedPage{
		subject: s, Said: in.T(id, "Name", pages.Code(s.Shown()), "Version", strconv.Itoa(after.Version)), Field: p.Field.HTML(), Action: s.to(pathHistory),
		Version: after.Version, IsUndone: after.Version > 1 && service.ToChange.CheckKey(p.Actor, after.Key) == nil,
	})
}

// undo makes a version with the content of the one before, if the version that was shown is still the current one, and of who asks.
func (e *Editor) undo(p *Request, s subject) (message.Reply, error) {
	number, _ := strconv.Atoi(p.Form.Get("version")) // 0 is none
	current, err := e.entry(p, s, 0)
	if err != nil {
		return message.Reply{}, err
	}
	in := p.Panel.In
	if s.Name = current.Name; current.Version != number || number < 2 || current.By != p.Actor.Name {
		return e.notUndone(p, in.T("history.undo_changed", "Version", strconv.Itoa(current.Version), "By", pages.Bdi(current.By)))
	}
	before, err := e.entry(p, s, number-1)
	if err != nil {
		return message.Reply{}, err
	}
	if before.Redacted {
		return e.notUndone(p, in.T("history.undo_redacted"))
	}
	made := documentOf(before)
	made[inNote] = quoted(strings.TrimSpace(in.Text("history.undo_note", "Version", strconv.Itoa(number))))
	after, err := e.put(p, s, made, number, false)
	switch {
	case errors.Is(err, registry.ErrConflict):
		return e.notUndone(p, in.T("history.undo_changed", "Version", strconv.Itoa(number+1), "By", pages.Bdi("?")))
	case err != nil && problem.Status(err) == http.StatusUnprocessableEntity:
		return e.notUndone(p, in.T("history.undo_refused", "Reason", saidOf(in, err)))
	case err != nil:
		return message.Reply{}, err
	}
	p.Outcome = e.outcome(p, s, &after, "history.undone")
	return seeOther(s.to(pathName)), nil
}

// notUndone shows the history with the reason why nothing was taken back.
func (e *Editor) notUndone(p *Request, reason pages.Content) (message.Reply, error) {
	p.Form, p.Panel.Fault = nil, reason
	reply, err := e.serveHistory(p)
	reply.Status = http.StatusPreconditionFailed
	return reply, err
}
