package editor

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// pathChanges is where change sets are, each below its number.
const pathChanges = "/registry/changes"

// changesPage is what the page of change sets shows.
type changesPage struct {
	Asked       url.Values
	Sets        []shownSet
	First, Next string
	IsLate      bool
	Fault       pages.Content
}

// shownSet is a change set with what leads to its page.
type shownSet struct {
	registry.ChangeSet
	Page  string
	First subject // that it has changed; the zero value where that is not known
}

// More is how many versions it has beside that of the first name.
func (s shownSet) More() int64 {
	if s.First.Name == "" {
		return 0
	}
	return s.Rows - 1
}

// RevertedNumber is the number of the set that it takes back, as text.
func (s shownSet) RevertedNumber() string { return strconv.FormatInt(int64(s.Reverts), 10) }

// What is the identifier of the message of what it was made by.
func (s shownSet) What() string {
	switch {
	case s.Kind == "" && s.Rows == 1:
		return "changes.kind_change"
	case s.Kind == "":
		return "changes.kind_changes"
	default:
		return "changes.kind_" + s.Kind
	}
}

// changesLength is how many change sets, or changes of one, a page has.
const changesLength = 50

// serveChanges lists change sets, the newest first.
func (e *Editor) serveChanges(p *Request) (message.Reply, error) {
	asked := p.URL.Query()
	q := make(url.Values)
	for _, name := range []string{"by", "prefix", "since", "until"} {
		if value := asked.Get(name); value != "" {
			q.Set(name, value)
		}
	}
	if prefix := ownPrefix(p, q.Get("prefix")); prefix != "" {
		q.Set("prefix", prefix)
		asked.Set("prefix", prefix)
	}
	page := changesPage{Asked: asked}
	if asked.Get("cursor") != "" {
		page.First = pageOf(pathChanges, q)
	}
	var found service.ChangeSets
	of, err := service.ChangesOf(q.Get)
	if of.Newest = true; err == nil {
		found, err = e.Service.ChangeSets(p.Context(), p.Actor, of, service.Page{Limit: changesLength, Cursor: asked.Get("cursor")})
	}
	if err != nil && !isAsked(err) {
		return message.Reply{}, err
	}
	page.Fault = saidOf(p.Panel.In, err)
	for _, set := range found.Sets {
		set.Note = cut(set.Note)
		page.Sets = append(page.Sets, shownSet{set, setPath(set.Number, q.Get("prefix")), e.first(p, set.Number, of.Prefix)})
	}
	if found.More {
		page.IsLate = len(found.Sets) < changesLength
		q.Set("cursor", found.Next)
		page.Next = pageOf(pathChanges, q)
	}
	return refusedBy(e.show(p, p.Panel.In.Text("changes.title"), "changes.html", page), err), nil
}

// first returns the first name that a change set has changed.
func (e *Editor) first(p *Request, set registry.Seq, prefix string) (s subject) {
	found, err := e.Service.Events(p.Context(), p.Actor, set, prefix, service.Page{Limit: 1})
	if err != nil {
		e.Failed(p.Request, p.Actor, err) // the list is of use without it
		return s
	}
	for _, event := range found.Events {
		s = subject{event.Name, event.Key.Kind == registry.KindPrefix}
	}
	return s
}

// ownPrefix returns what the names begin with that a page is about: that which was asked for, or, where whoever asks may not see all, the first
// that he may.
func ownPrefix(p *Request, asked string) string {
	if asked == "" && len(p.Actor.Prefixes) > 0 {
		return p.Actor.Prefixes[0]
	}
	return asked
}

// setPath returns the target of the page of a change set.
func setPath(number registry.Seq, prefix string) string {
	path := pathChanges + "/" + strconv.FormatInt(int64(number), 10)
	if prefix != "" {
		path += "?" + url.Values{"prefix": {prefix}}.Encode()
	}
	return path
}

// shownRevert is what a page shows of what reverting a change set would do.
type shownRevert struct {
	registry.Reverted
	Changes  []shownChange
	Rejected []notReverted
	More     int64 // how many names and conflicts are not shown
}

// shownChange is how a name would change.
type shownChange struct {
	subject
	Differences []difference
}

// changeOf returns what a page shows of a change of a name.
func changeOf(in pages.Writer, c *registry.Changed) shownChange {
	return shownChange{subject{c.After.Name, c.After.Kind == registry.KindPrefix}, short(in, differences(in, &c.Before, &c.After))}
}

// notReverted is what would stay, and why.
type notReverted struct {
	subject
	Reason pages.Content
}

// revert reverts a change set, or finds out what that would do.
func (e *Editor) revert(p *Request, number registry.Seq, note string, isDry bool) (*shownRevert, error) {
	shown := &shownRevert{}
	report, err := e.Service.Revert(p.Context(), p.Actor, registry.Revert{
		Set: number, Note: note, DryRun: isDry,
		Reverted: func(c registry.Changed) {
			if len(shown.Changes) < maxRevertShown {
				shown.Changes = append(shown.Changes, changeOf(p.Panel.In, &c))
			}
		},
		Conflict: func(key registry.Key, err error) {
			if len(shown.Rejected) < maxRevertShown {
				shown.Rejected = append(shown.Rejected, notReverted{subject{key.Name, key.Kind == registry.KindPrefix}, saidOf(p.Panel.In, err)})
			}
		},
	})
	shown.Reverted = report
	shown.More = report.Names + report.Conflicts - int64(len(shown.Changes)+len(shown.Rejected))
	return shown, err
}

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
	return refusedBy(e.show(p, page.title(), "changeset.html", page), err), nil
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
