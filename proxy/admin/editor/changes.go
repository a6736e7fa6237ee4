package editor

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
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
	status := http.StatusOK
	if err != nil {
		if !isAsked(err) {
			return message.Reply{}, err
		}
		page.Fault, status = saidOf(p.Panel.In, err), problem.Status(err)
	}
	for _, set := range found.Sets {
		set.Note = cut(set.Note)
		page.Sets = append(page.Sets, shownSet{set, setPath(set.Number, q.Get("prefix")), e.first(p, set.Number, of.Prefix)})
	}
	if found.More {
		page.IsLate = len(found.Sets) < changesLength
		q.Set("cursor", found.Next)
		page.Next = pageOf(pathChanges, q)
	}
	reply := e.show(p, p.Panel.In.Text("changes.title"), "changes.html", page)
	reply.Status = status
	return reply, nil
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
