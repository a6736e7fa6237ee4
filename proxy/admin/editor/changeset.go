package editor

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// setPage is what the page of a change set shows.
type setPage struct {
	*Request
	Set         shownSet
	Prefix      string // only what begins so is shown; "" is all
	Action      string // where the form is sent that takes it back, "" where that is not offered
	Faults      faults
	Note        string
	Preview     *shownRevert // what taking it back would do; nil where that was not asked
	Events      []shownEvent
	First, Next string
	Reverts     string // the page of the change set that it takes back, "" for none
}

// shownEvent is what happened to a name.
type shownEvent struct {
	subject
	Page        string
	Kind        string // of a purge or a redaction, "" of a version
	Version     int
	Differences []difference
	Versions    int // that were purged or redacted
}

// maxRevertShown bounds the names and conflicts that a page shows of what taking a change set back would do.
const maxRevertShown = 50

// serveChangeSet shows what a change set has changed, and takes it back.
func (e *Editor) serveChangeSet(p *Request) (message.Reply, error) {
	number, err := strconv.ParseInt(p.ID, 10, 64)
	if err != nil || number < 1 {
		return message.Reply{}, fmt.Errorf("%w: there is no change set %q", registry.ErrUnknown, p.ID)
	}
	p.Panel.Above = []pages.Item{{Word: p.Panel.In.Text("changes.title"), Path: pathChanges}}
	prefix := ownPrefix(p, p.URL.Query().Get("prefix"))
	set, err := e.Service.ChangeSet(p.Context(), p.Actor, registry.Seq(number), prefix)
	if err != nil {
		return message.Reply{}, err
	}
	page := &setPage{Request: p, Set: shownSet{ChangeSet: set}, Prefix: prefix}
	if mayRevert(p.Actor) == nil {
		page.Action = setPath(set.Number, prefix)
	}
	if set.Reverts != 0 {
		page.Reverts = setPath(set.Reverts, prefix)
	}
	if p.Form != nil {
		return e.reverting(p, page)
	}
	if err := e.events(p, page); err != nil {
		return message.Reply{}, err
	}
	return e.show(p, page.title(), "changeset.html", page), nil
}

func (s *setPage) title() string {
	return s.Panel.In.Text("changes.set", "Number", strconv.FormatInt(int64(s.Set.Number), 10))
}

// CanRevert reports whether there is something to take back by what was shown.
func (s *setPage) CanRevert() bool { return s.Preview != nil && s.Preview.Names > 0 }

// Input is the field that says why it is taken back.
func (s *setPage) Input() input {
	return input{
		ID: "note", Label: s.Panel.In.T("changes.why"), Value: s.Note, Rows: 2, Fault: s.Faults.Of("note"), Hint: s.Panel.In.T("changes.reason_says"),
	}
}

// mayRevert returns ErrDenied for who may not revert change sets.
func mayRevert(actor registry.Actor) error {
	return errors.Join(service.ToRevert.CheckAll(actor), actor.Does(registry.ActWithdraw))
}

// reverting shows what taking a change set back would do, or does it.
func (e *Editor) reverting(p *Request, page *setPage) (message.Reply, error) {
	page.Note = typed(url.Values{"note": p.Form["note"]}).texts[inNote]
	isDry := p.Form.Get("do") != doSave
	done, err := e.revert(p, page.Set.Number, page.Note, isDry)
	switch {
	case err != nil && e.refuses(p, err):
		page.Faults = faults{faultOf(p.Panel.In, err, &nameForm{})}
	case err != nil:
		return message.Reply{}, err
	case !isDry && done.Set.Number == 0:
		p.Outcome = p.Panel.In.T("changes.done_nothing")
		return seeOther(setPath(page.Set.Number, page.Prefix)), nil
	case !isDry:
		p.Outcome = p.Panel.In.T("changes.done_reverted")
		if done.Conflicts > 0 {
			p.Outcome = p.Panel.In.T("changes.done_partly")
		}
		return seeOther(setPath(done.Set.Number, page.Prefix)), nil
	default:
		page.Preview = done
	}
	reply := e.show(p, page.title(), "changeset.html", page)
	if err != nil {
		reply.Status = problem.Status(err)
	}
	return reply, nil
}

// events reads what a change set has changed.
func (e *Editor) events(p *Request, page *setPage) error {
	path, cursor := setPath(page.Set.Number, ""), p.URL.Query().Get("cursor")
	own := make(url.Values)
	if page.Prefix != "" {
		own.Set("prefix", page.Prefix)
	}
	if cursor != "" {
		page.First = pageOf(path, own)
	}
	found, err := e.Service.Events(p.Context(), p.Actor, page.Set.Number, page.Prefix, service.Page{Limit: changesLength, Cursor: cursor})
	if err != nil {
		return err
	}
	if found.More {
		own.Set("cursor", found.Next)
		page.Next = pageOf(path, own)
	}
	for i := range found.Events {
		shown, err := e.event(p, &found.Events[i])
		if err != nil {
			return err
		}
		page.Events = append(page.Events, shown)
	}
	return nil
}

// event returns what a page shows of an event: of a version how it differs from the one before it.
func (e *Editor) event(p *Request, one *registry.Event) (shown shownEvent, err error) {
	shown.subject = subject{one.Name, one.Key.Kind == registry.KindPrefix}
	shown.Page = shown.to(pathName)
	if one.Kind != "" {
		shown.Kind, shown.Versions = one.Kind, len(one.Of)
		return shown, nil
	}
	var before registry.Entry // the zero value also where it is not there any more
	if shown.Version = one.Version.Version; shown.Version > 1 {
		if before, err = e.entry(p, shown.subject, shown.Version-1); err != nil && !errors.Is(err, registry.ErrUnknown) {
			return shown, err
		}
	}
	shown.Differences = short(p.Panel.In, differences(p.Panel.In, &before, &one.Version))
	return shown, nil
}
