package editor

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

const (
	// pathChanges is where change sets are, each below its number.
	pathChanges = "/registry/changes"
	apiChanges  = "/api/v1/registry/changes"
)

// changesPage is what the page of change sets shows.
type changesPage struct {
	Asked       url.Values
	Sets        []shownSet
	First, Next string
	IsLate      bool
	Faults      faults
}

// shownSet is a change set with what leads to its page.
type shownSet struct {
	registry.ChangeSet
	Page string
}

// When is the time at which it was begun.
func (s shownSet) When() string { return s.Time.UTC().Format(shownTime) }

// What is what it was made by, in words.
func (s shownSet) What() string {
	switch {
	case s.Kind == "" && s.Rows == 1:
		return "a change"
	case s.Kind == "":
		return "changes"
	case s.Kind == registry.KindRevert:
		return "revert of " + strconv.FormatInt(int64(s.Reverts), 10)
	default:
		return s.Kind
	}
}

// setsPage is a page of the API.
type setsPage struct {
	Changes []registry.ChangeSet `json:"changes"`
	Next    string               `json:"next"`
	More    bool                 `json:"more"`
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
	if cursor := asked.Get("cursor"); cursor != "" {
		page.First = pageOf(pathChanges, q)
		q.Set("cursor", cursor)
	}
	q.Set("order", "newest")
	q.Set("limit", strconv.Itoa(changesLength))
	var found setsPage
	status := http.StatusOK
	if err := e.get(p, apiChanges, q, &found); err != nil {
		if !isAsked(err) {
			return message.Reply{}, err
		}
		page.Faults, status = faults{faultOf(err, nil)}, problem.Status(err)
	}
	for _, set := range found.Changes {
		set.Note = cut(set.Note)
		page.Sets = append(page.Sets, shownSet{set, setPath(set.Number, q.Get("prefix"))})
	}
	if found.More {
		page.IsLate = len(found.Changes) < changesLength
		q.Del("order")
		q.Del("limit")
		q.Set("cursor", found.Next)
		page.Next = pageOf(pathChanges, q)
	}
	reply := e.show(p, "Changes", "changes.html", page)
	reply.Status = status
	return reply, nil
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

// set asks the API for a change set, which has changed what begins with a prefix.
func (e *Editor) set(p *Request, number registry.Seq, prefix string) (set registry.ChangeSet, err error) {
	q := make(url.Values)
	if prefix != "" {
		q.Set("prefix", prefix)
	}
	return set, e.get(p, apiChanges+"/"+strconv.FormatInt(int64(number), 10), q, &set)
}

// revert asks the API to take a change set back, or what that would do.
func (e *Editor) revert(p *Request, number registry.Seq, note string, isDry bool) (done reverted, err error) {
	q := make(url.Values)
	if isDry {
		q.Set("dry_run", "true")
	}
	body := struct {
		Set  registry.Seq `json:"set"`
		Note string       `json:"note"`
	}{number, note}
	reply, err := e.ask(p, http.MethodPost, apiChanges+"/revert", q, nil, body)
	if err != nil {
		return done, err
	}
	return done, read(reply, &done)
}

// reverted is what the API says of a change set that was taken back, or would be.
type reverted struct {
	Set         registry.Seq `json:"set"`
	Names       int64        `json:"names"`
	Conflicts   int64        `json:"conflicts"`
	Differences []struct {
		Name        string `json:"name"`
		Prefix      bool   `json:"prefix"`
		Change      string `json:"change"`
		Differences []struct {
			Field  string `json:"field"`
			Before string `json:"before"`
			After  string `json:"after"`
		} `json:"differences"`
	} `json:"differences"`
	Rejected []struct {
		Name   string `json:"name"`
		Prefix bool   `json:"prefix"`
		Reason string `json:"reason"`
	} `json:"rejected"`
}

// shownRevert is what a page shows of what taking a change set back would do.
type shownRevert struct {
	reverted
	More int64 // how many names and conflicts are not shown
}

func (r *reverted) shown() *shownRevert {
	s := shownRevert{reverted: *r}
	s.Differences, s.Rejected = r.Differences[:min(len(r.Differences), maxRevertShown)], r.Rejected[:min(len(r.Rejected), maxRevertShown)]
	for i := range s.Differences {
		of := s.Differences[i].Differences
		of = of[:min(len(of), 2*shortLines)]
		for j := range of {
			of[j].Before, of[j].After = cut(of[j].Before), cut(of[j].After)
		}
		s.Differences[i].Differences = of
	}
	for i := range s.Rejected {
		s.Rejected[i].Reason = cut(s.Rejected[i].Reason)
	}
	s.More = r.Names + r.Conflicts - int64(len(s.Differences)+len(s.Rejected))
	return &s
}
