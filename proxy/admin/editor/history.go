package editor

import (
	"strconv"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver/registry"
)

// historyLength is how many versions a page of a history has.
const historyLength = "20"

// historyPage is what the history of a name shows.
type historyPage struct {
	subject
	Leads    []lead
	Versions []shownVersion
	Next     string // the target of the next page, "" for none
	IsFirst  bool   // it begins with the current version
}

// shownVersion is a version with what it has changed.
type shownVersion struct {
	api.Name
	Differences []difference
	Restore     string // the form with this version, "" for none
	IsCurrent   bool
}

// versionsPage is a page of the API.
type versionsPage struct {
	Versions []document `json:"versions"`
	Next     string     `json:"next"`
}

// serveHistory shows the versions of a name, the newest first, each with the difference to the one before.
func (e *Editor) serveHistory(p *Request) (message.Reply, error) {
	s, err := existing(p)
	if err != nil {
		return message.Reply{}, err
	}
	q, cursor := s.query(), p.URL.Query().Get("cursor")
	q.Set("limit", historyLength)
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	var found versionsPage
	if err := e.get(p, s.api()+"/history", q, &found); err != nil {
		return message.Reply{}, err
	}
	page := historyPage{IsFirst: cursor == ""}
	if found.Next != "" {
		var before versionsPage
		q.Set("cursor", found.Next)
		q.Set("limit", "1")
		if err := e.get(p, s.api()+"/history", q, &before); err != nil {
			return message.Reply{}, err
		}
		page.Next = s.to(pathHistory, [2]string{"cursor", found.Next})
		found.Versions = append(found.Versions, before.Versions...)
	}
	if len(found.Versions) == 0 && cursor == "" {
		if _, err := e.document(p, s, 0); err != nil {
			return message.Reply{}, err
		}
	}
	isLastShown := page.Next != "" && len(found.Versions) > 1
	for i, d := range found.Versions {
		if isLastShown && i == len(found.Versions)-1 {
			break // it is on the next page
		}
		before := document{}
		if i+1 < len(found.Versions) {
			before = found.Versions[i+1]
		}
		v := shownVersion{Name: d.name(), Differences: short(differences(before, d)), IsCurrent: i == 0 && page.IsFirst}
		s.Name = v.Name.Name
		page.Versions = append(page.Versions, v)
	}
	page.subject = s
	page.offer(p)
	return e.show(p, s.title("History of "), "history.html", page), nil
}

// offer sets what whoever asks may do.
func (h *historyPage) offer(p *Request) {
	isWithdrawn := len(h.Versions) > 0 && h.Versions[0].Status == registry.Withdrawn
	h.Leads = leads(p, h.subject, isWithdrawn || !h.IsFirst, pathHistory) // the current status is on the first page alone
	if p.may(h.subject, registry.ActChange) != nil {
		return
	}
	for i := range h.Versions {
		if v := &h.Versions[i]; !v.IsCurrent && !v.Redacted {
			v.Restore = h.to(pathEdit, [2]string{"restore", strconv.Itoa(v.Version)})
		}
	}
}
