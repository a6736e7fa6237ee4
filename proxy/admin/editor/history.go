package editor

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// historyLength is the page size of a history.
const historyLength = 20

// historyPage is the data of the history of a name.
type historyPage struct {
	subject
	Field    pages.Content
	Action   string
	Links    []pageLink
	Versions []shownVersion
	Next     string // URL of the next page, "" for none
	IsFirst  bool   // it begins with the current version
}

// shownVersion is a version with its changes.
type shownVersion struct {
	api.Name
	Differences []difference
	Restore     string // URL of the form with this version, "" for none
	IsCurrent   bool
	// Undo is true if the actor has made the version and may undo it.
	Undo bool
}

// serveHistory shows the versions of a name, the newest first, each with its differences from the previous
// one.
func (e *Editor) serveHistory(p *Request) (message.Reply, error) {
	s, err := existing(p)
	if err != nil {
		return message.Reply{}, err
	}
	if p.Form != nil && p.Form.Get("do") == doUndo {
		return e.undo(p, s)
	}
	cursor := p.URL.Query().Get("cursor")
	found, err := e.Service.History(p.Context(), p.Actor, s.key(), service.Page{Limit: historyLength, Cursor: cursor})
	if err != nil {
		return message.Reply{}, err
	}
	page := historyPage{IsFirst: cursor == "", Field: p.Field.HTML(), Action: s.to(pathHistory)}
	shown := found.Entries
	if found.Next != "" {
		before, err := e.Service.History(p.Context(), p.Actor, s.key(), service.Page{Limit: 1, Cursor: found.Next})
		if err != nil {
			return message.Reply{}, err
		}
		page.Next = s.to(pathHistory, [2]string{"cursor", found.Next})
		found.Entries = append(found.Entries, before.Entries...)
	}
	for i := range shown {
		var before registry.Entry
		if i+1 < len(found.Entries) {
			before = found.Entries[i+1]
		}
		v := &found.Entries[i]
		s.Name = v.Name
		page.Versions = append(page.Versions, shownVersion{
			Name: api.NewName(*v), Differences: short(p.Panel.Writer, differences(p.Panel.Writer, &before, v)),
			IsCurrent: i == 0 && page.IsFirst,
		})
	}
	page.subject = s
	page.offer(p)
	return e.show(p, p.Panel.Writer.Text("history.title", "Name", s.isolated()), "history.html", page), nil
}

// offer sets the actions that the actor is authorized for.
func (h *historyPage) offer(p *Request) {
	withdrawn := len(h.Versions) > 0 && h.Versions[0].Status == registry.Withdrawn
	// Only the first page has the current status.
	h.Links = newPageLinks(p, h.subject, withdrawn || !h.IsFirst, pathHistory)
	if service.ToChange.CheckKey(p.Actor, h.key()) != nil {
		return
	}
	if len(h.Versions) > 0 {
		v := &h.Versions[0]
		v.Undo = v.IsCurrent && v.Version > 1 && v.By == p.Actor.Name && len(v.Differences) > 0
	}
	for i := range h.Versions {
		if v := &h.Versions[i]; !v.IsCurrent && !v.Redacted {
			v.Restore = h.to(pathEdit, [2]string{"restore", strconv.Itoa(v.Version)})
		}
	}
}

// doUndo is the value of the button that undoes the current version.
const doUndo = "undo"

// savedPage is the data of the outcome of a change, with a button that undoes it.
type savedPage struct {
	subject
	Message pages.Content
	Field   pages.Content
	Action  string
	// Version is the new version, and IsUndone is true if it can be undone: a previous version exists.
	Version  int
	IsUndone bool
}

// outcome returns the message about a changed name.
func (e *Editor) outcome(p *Request, s subject, after *registry.Entry, id string) pages.Content {
	s.Name = after.Name
	in := p.Panel.Writer
	return e.contents.Make(in.Language(), "saved.html", savedPage{
		subject: s, Message: in.T(id, "Name", pages.Code(s.Shown()), "Version", strconv.Itoa(after.Version)),
		Field: p.Field.HTML(), Action: s.to(pathHistory), Version: after.Version, IsUndone: after.Version > 1 &&
			service.ToChange.CheckKey(p.Actor, after.Key) == nil,
	})
}

// undo makes a version with the content of the previous one, if the shown version is still current and was
// made by the actor.
func (e *Editor) undo(p *Request, s subject) (message.Reply, error) {
	number, _ := strconv.Atoi(p.Form.Get("version")) // 0 is invalid
	current, err := e.entry(p, s, 0)
	if err != nil {
		return message.Reply{}, err
	}
	in := p.Panel.Writer
	if s.Name = current.Name; current.Version != number || number < 2 || current.By != p.Actor.Name {
		return e.notUndone(p, in.T("history.undo_changed", "Version", strconv.Itoa(current.Version), "By",
			pages.Bdi(current.By)))
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
		return e.notUndone(p, in.T("history.undo_refused", "Reason", errorContent(in, err)))
	case err != nil:
		return message.Reply{}, err
	}
	p.Outcome = e.outcome(p, s, &after, "history.undone")
	return seeOther(s.to(pathName)), nil
}

// notUndone shows the history with the reason why nothing was undone.
func (e *Editor) notUndone(p *Request, reason pages.Content) (message.Reply, error) {
	p.Form, p.Panel.Error = nil, reason
	reply, err := e.serveHistory(p)
	reply.Status = http.StatusPreconditionFailed
	return reply, err
}
