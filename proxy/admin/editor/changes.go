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

// pathChanges is the path of the change sets; each has a page below it, by its number.
const pathChanges = "/registry/changes"

// changesPage is the data of the page of change sets.
type changesPage struct {
	Query       url.Values
	Sets        []shownSet
	First, Next string
	TimedOut    bool
	Error       pages.Content
}

// shownSet is a change set with links to its page and its first name.
type shownSet struct {
	registry.ChangeSet
	Page  string
	First subject // the first changed name; the zero value if unknown
}

// More returns the number of versions besides that of the first name.
func (s shownSet) More() int64 {
	if s.First.Name == "" {
		return 0
	}
	return s.Rows - 1
}

// RevertedNumber returns the number of the change set that this one reverts, as text.
func (s shownSet) RevertedNumber() string { return strconv.FormatInt(int64(s.Reverts), 10) }

// What returns the message identifier of the operation that made the change set.
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

// changesLength is the page size of change sets, and of the changes of one.
const changesLength = 50

// serveChanges lists change sets, the newest first.
func (e *Editor) serveChanges(p *Request) (message.Reply, error) {
	requested := p.URL.Query()
	q := make(url.Values)
	for _, name := range []string{"by", "prefix", "since", "until"} {
		if value := requested.Get(name); value != "" {
			q.Set(name, value)
		}
	}
	if prefix := ownPrefix(p, q.Get("prefix")); prefix != "" {
		q.Set("prefix", prefix)
		requested.Set("prefix", prefix)
	}
	page := changesPage{Query: requested}
	if requested.Get("cursor") != "" {
		page.First = pageOf(pathChanges, q)
	}
	var found service.ChangeSetPage
	of, err := service.ParseChangeFilter(q.Get)
	if of.NewestFirst = true; err == nil {
		found, err = e.Service.ChangeSets(p.Context(), p.Actor, of,
			service.Page{Limit: changesLength, Cursor: requested.Get("cursor")})
	}
	if err != nil && !isQueryError(err) {
		return message.Reply{}, err
	}
	page.Error = errorContent(p.Panel.Writer, err)
	for _, set := range found.Sets {
		set.Note = cut(set.Note)
		page.Sets = append(page.Sets,
			shownSet{set, setPath(set.Number, q.Get("prefix")), e.first(p, set.Number, of.Prefix)})
	}
	if found.More {
		page.TimedOut = len(found.Sets) < changesLength
		q.Set("cursor", found.Next)
		page.Next = pageOf(pathChanges, q)
	}
	return withErrorStatus(e.show(p, p.Panel.Writer.Text("changes.title"), "changes.html", page), err), nil
}

// first returns the first name that a change set has changed.
func (e *Editor) first(p *Request, set registry.Seq, prefix string) (s subject) {
	found, err := e.Service.Events(p.Context(), p.Actor, set, prefix, service.Page{Limit: 1})
	if err != nil {
		e.Failed(p.Request, p.Actor, err) // the list is useful without it
		return s
	}
	for _, event := range found.Events {
		s = subject{event.Name, event.Key.Kind == registry.KindPrefix}
	}
	return s
}

// ownPrefix returns the name prefix that a page is restricted to: the requested one or, for an actor with
// owned prefixes, the first of these.
func ownPrefix(p *Request, requested string) string {
	if requested == "" && len(p.Actor.Prefixes) > 0 {
		return p.Actor.Prefixes[0]
	}
	return requested
}

// setPath returns the URL of the page of a change set.
func setPath(number registry.Seq, prefix string) string {
	path := pathChanges + "/" + strconv.FormatInt(int64(number), 10)
	if prefix != "" {
		path += "?" + url.Values{"prefix": {prefix}}.Encode()
	}
	return path
}

// shownRevert is the preview of the revert of a change set.
type shownRevert struct {
	registry.RevertResult
	Changes  []shownChange
	Rejected []notReverted
	More     int64 // number of names and conflicts that are not shown
}

// shownChange is the change of a name.
type shownChange struct {
	subject
	Differences []difference
}

// changeOf returns the shown form of the change of a name.
func changeOf(in pages.Writer, c *registry.Changed) shownChange {
	return shownChange{
		subject{c.After.Name, c.After.Kind == registry.KindPrefix},
		short(in, differences(in, &c.Before, &c.After)),
	}
}

// notReverted is a name that would not be reverted, with the reason.
type notReverted struct {
	subject
	Reason pages.Content
}

// revert reverts a change set; a dry run only reports the result.
func (e *Editor) revert(p *Request, number registry.Seq, note string, dry bool) (*shownRevert, error) {
	shown := &shownRevert{}
	report, err := e.Service.Revert(p.Context(), p.Actor, registry.Revert{
		Set: number, Note: note, DryRun: dry,
		Reverted: func(c registry.Changed) {
			if len(shown.Changes) < maxRevertShown {
				shown.Changes = append(shown.Changes, changeOf(p.Panel.Writer, &c))
			}
		},
		Conflict: func(key registry.Key, err error) {
			if len(shown.Rejected) < maxRevertShown {
				shown.Rejected = append(shown.Rejected,
					notReverted{subject{key.Name, key.Kind == registry.KindPrefix}, errorContent(p.Panel.Writer, err)})
			}
		},
	})
	shown.RevertResult = report
	shown.More = report.Names + report.Conflicts - int64(len(shown.Changes)+len(shown.Rejected))
	return shown, err
}

// setPage is the data of the page of a change set.
type setPage struct {
	*Request
	Set         shownSet
	Prefix      string // only names with this prefix are shown; "" shows all
	Action      string // URL of the form that reverts it; "" if a revert is not offered
	Errors      failures
	Note        string
	Preview     *shownRevert // result of the dry run; nil if none was requested
	Events      []shownEvent
	First, Next string
	Reverts     string // the page of the change set that it reverts, "" for none
}

// shownEvent is an event of a name.
type shownEvent struct {
	subject
	Page        string
	Kind        string // purge or redaction; "" for a version
	Version     int
	Differences []difference
	Versions    int // number of purged or redacted versions
}

// maxRevertShown limits the names and conflicts in the preview of a revert.
const maxRevertShown = 50

// serveChangeSet shows the changes of a change set, and reverts it.
func (e *Editor) serveChangeSet(p *Request) (message.Reply, error) {
	number, err := strconv.ParseInt(p.ID, 10, 64)
	if err != nil || number < 1 {
		return message.Reply{}, fmt.Errorf("%w: unknown change set %q", registry.ErrUnknown, p.ID)
	}
	p.Panel.Crumbs = []pages.Item{{Label: p.Panel.Writer.Text("changes.title"), Path: pathChanges}}
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
	return s.Panel.Writer.Text("changes.set", "Number", strconv.FormatInt(int64(s.Set.Number), 10))
}

// CanRevert reports whether the preview contains a name to revert.
func (s *setPage) CanRevert() bool { return s.Preview != nil && s.Preview.Names > 0 }

// Input returns the form field for the reason of the revert.
func (s *setPage) Input() input {
	return input{
		ID: "note", Label: s.Panel.Writer.T("changes.why"), Value: s.Note, Rows: 2, Error: s.Errors.Of("note"),
		Hint: s.Panel.Writer.T("changes.reason_hint"),
	}
}

// mayRevert returns ErrDenied if the actor may not revert change sets.
func mayRevert(actor registry.Actor) error {
	return errors.Join(service.ToRevert.CheckAll(actor), actor.CheckAction(registry.ActWithdraw))
}

// reverting shows the preview of a revert, or does the revert.
func (e *Editor) reverting(p *Request, page *setPage) (message.Reply, error) {
	page.Note = typed(url.Values{"note": p.Form["note"]}).texts[inNote]
	dry := p.Form.Get("do") != doSave
	done, err := e.revert(p, page.Set.Number, page.Note, dry)
	switch {
	case err != nil && e.isFormError(p, err):
		page.Errors = failures{failureOf(p.Panel.Writer, err, &nameForm{})}
	case err != nil:
		return message.Reply{}, err
	case !dry && done.Set.Number == 0:
		p.Outcome = p.Panel.Writer.T("changes.done_nothing")
		return seeOther(setPath(page.Set.Number, page.Prefix)), nil
	case !dry:
		p.Outcome = p.Panel.Writer.T("changes.done_reverted")
		if done.Conflicts > 0 {
			p.Outcome = p.Panel.Writer.T("changes.done_partly")
		}
		return seeOther(setPath(done.Set.Number, page.Prefix)), nil
	default:
		page.Preview = done
	}
	return withErrorStatus(e.show(p, page.title(), "changeset.html", page), err), nil
}

// events reads a page of the events of a change set.
func (e *Editor) events(p *Request, page *setPage) error {
	path, cursor := setPath(page.Set.Number, ""), p.URL.Query().Get("cursor")
	own := make(url.Values)
	if page.Prefix != "" {
		own.Set("prefix", page.Prefix)
	}
	if cursor != "" {
		page.First = pageOf(path, own)
	}
	found, err := e.Service.Events(p.Context(), p.Actor, page.Set.Number, page.Prefix,
		service.Page{Limit: changesLength, Cursor: cursor})
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

// event returns the shown form of an event: a version with its differences from the previous one.
func (e *Editor) event(p *Request, one *registry.Event) (shown shownEvent, err error) {
	shown.subject = subject{one.Name, one.Key.Kind == registry.KindPrefix}
	shown.Page = shown.to(pathName)
	if one.Kind != "" {
		shown.Kind, shown.Versions = one.Kind, len(one.Affected)
		return shown, nil
	}
	var before registry.Entry // the zero value also if it was purged
	if shown.Version = one.Version.Version; shown.Version > 1 {
		if before, err = e.entry(p, shown.subject, shown.Version-1); err != nil &&
			!errors.Is(err, registry.ErrUnknown) {
			return shown, err
		}
	}
	shown.Differences = short(p.Panel.Writer, differences(p.Panel.Writer, &before, &one.Version))
	return shown, nil
}
