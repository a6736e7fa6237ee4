package editor

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// setPage is what the page of a change set shows.
type setPage struct {
	*Request
	Set         shownSet
	Prefix      string // only what begins so is shown; "" is all
	Done        string
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

// event is what the API says of one.
type event struct {
	Kind     string         `json:"kind"`
	Name     string         `json:"name"`
	Prefix   bool           `json:"prefix"`
	Version  document       `json:"version"`
	Versions []registry.Seq `json:"versions"`
	Time     time.Time      `json:"time"`
}

// maxRevertShown bounds the names and conflicts that a page shows of what taking a change set back would do.
const maxRevertShown = 50

// serveChangeSet shows what a change set has changed, and takes it back.
func (e *Editor) serveChangeSet(p *Request) (message.Reply, error) {
	number, err := strconv.ParseInt(p.ID, 10, 64)
	if err != nil || number < 1 {
		return message.Reply{}, fmt.Errorf("%w: there is no change set %q", registry.ErrUnknown, p.ID)
	}
	p.Panel.Above = []pages.Item{{Word: "Changes", Path: pathChanges}}
	prefix := ownPrefix(p, p.URL.Query().Get("prefix"))
	set, err := e.set(p, registry.Seq(number), prefix)
	if err != nil {
		return message.Reply{}, err
	}
	page := &setPage{Request: p, Set: shownSet{set, ""}, Prefix: prefix, Done: outcome(p.URL.Query().Get("done"))}
	if mayRevert(p) == nil {
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

func (s *setPage) title() string { return "Change set " + strconv.FormatInt(int64(s.Set.Number), 10) }

// CanRevert reports whether there is something to take back by what was shown.
func (s *setPage) CanRevert() bool { return s.Preview != nil && s.Preview.Names > 0 }

// Input is the field that says why it is taken back.
func (s *setPage) Input() input {
	return input{
		ID: "note", Label: "Why", Value: s.Note, Rows: 2, Fault: s.Faults.Of("note"), Hint: "It is also the reason that people are told of names which are withdrawn by it.",
	}
}

// mayRevert returns ErrDenied for who may not take change sets back: they may be of any names.
func mayRevert(p *Request) error {
	if err := p.Actor.May(registry.Admin, registry.Key{}); err != nil {
		return err
	}
	if err := p.Actor.Does(registry.ActChange); err != nil {
		return err
	}
	return p.Actor.Does(registry.ActWithdraw)
}

// reverting shows what taking a change set back would do, or does it.
func (e *Editor) reverting(p *Request, page *setPage) (message.Reply, error) {
	page.Note = typed(url.Values{"note": p.Form["note"]}).texts[inNote]
	isDry := p.Form.Get("do") != doSave
	done, err := e.revert(p, page.Set.Number, page.Note, isDry)
	switch {
	case err != nil && isRefused(err):
		page.Faults = faults{faultOf(err, &nameForm{})}
		if page.Note == "" {
			page.Faults = faults{{"note", "Say why: it is also the reason of names that are withdrawn by it."}}
		}
	case err != nil:
		return message.Reply{}, err
	case !isDry && done.Set == 0:
		return seeOther(withDone(setPath(page.Set.Number, page.Prefix), "nothing")), nil
	case !isDry && done.Conflicts > 0:
		return seeOther(withDone(setPath(done.Set, page.Prefix), "partly")), nil
	case !isDry:
		return seeOther(withDone(setPath(done.Set, page.Prefix), "reverted")), nil
	default:
		page.Preview = done.shown()
	}
	reply := e.show(p, page.title(), "changeset.html", page)
	if err != nil {
		reply.Status = problem.Status(err)
	}
	return reply, nil
}

// withDone returns a target with the word of an outcome.
func withDone(target, word string) string {
	u, err := url.Parse(target)
	if err != nil {
		return target
	}
	q := u.Query()
	q.Set("done", word)
	return pageOf(u.Path, q)
}

// events reads what a change set has changed.
func (e *Editor) events(p *Request, page *setPage) error {
	q := url.Values{"set": {strconv.FormatInt(int64(page.Set.Number), 10)}, "limit": {strconv.Itoa(changesLength)}}
	if page.Prefix != "" {
		q.Set("prefix", page.Prefix)
	}
	path := setPath(page.Set.Number, "")
	own := make(url.Values)
	if page.Prefix != "" {
		own.Set("prefix", page.Prefix)
	}
	if cursor := p.URL.Query().Get("cursor"); cursor != "" {
		page.First = pageOf(path, own)
		q.Set("cursor", cursor)
	}
	var found struct {
		Events []event `json:"events"`
		Next   string  `json:"next"`
		More   bool    `json:"more"`
	}
	if err := e.get(p, apiChanges, q, &found); err != nil {
		return err
	}
	if found.More {
		own.Set("cursor", found.Next)
		page.Next = pageOf(path, own)
	}
	for _, one := range found.Events {
		shown, err := e.event(p, &one)
		if err != nil {
			return err
		}
		page.Events = append(page.Events, shown)
	}
	return nil
}

// event returns what a page shows of an event: of a version how it differs from the one before it.
func (e *Editor) event(p *Request, one *event) (shown shownEvent, err error) {
	shown.subject = subject{one.Name, one.Prefix}
	shown.Page = shown.to(pathName)
	if one.Version == nil {
		shown.Kind, shown.Versions = one.Kind, len(one.Versions)
		return shown, nil
	}
	n := one.Version.name()
	before := document{}
	if shown.Version = n.Version; n.Version > 1 {
		if before, err = e.before(p, shown.subject, n.Version); err != nil {
			return shown, err
		}
	}
	shown.Differences = short(differences(before, one.Version))
	return shown, nil
}

// before returns the version before another one, an empty one where it is not there any more.
func (e *Editor) before(p *Request, s subject, version int) (document, error) {
	d, err := e.document(p, s, version-1)
	if errors.Is(err, registry.ErrUnknown) {
		return document{}, nil
	}
	return d, err
}
