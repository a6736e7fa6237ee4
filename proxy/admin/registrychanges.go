package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// changePage is a page of change sets.
type changePage struct {
	Changes []registry.ChangeSet `json:"changes"`
	Next    string               `json:"next"` // also where there is no more yet
	More    bool                 `json:"more"`
}

// eventPage is a page of what happened to names.
type eventPage struct {
	Events []registryEvent `json:"events"`
	Next   string          `json:"next"`
	More   bool            `json:"more"`
}

// registryEvent is a version, or a purge or redaction of versions.
type registryEvent struct {
	Seq      registry.Seq   `json:"seq"`
	Set      registry.Seq   `json:"set"`
	Kind     string         `json:"kind"` // version, purge or redaction
	Name     string         `json:"name"`
	Prefix   bool           `json:"prefix,omitempty"`
	Version  *api.Name      `json:"version,omitempty"`
	Versions []registry.Seq `json:"versions,omitempty"` // that were purged or redacted, by their seq
	By       string         `json:"by,omitempty"`
	Note     string         `json:"note,omitempty"`
	Time     time.Time      `json:"time,omitzero"`
}

// serveChanges answers a page of change sets, or of what one of them has changed. Whoever may see some names only must ask for those.
func (h *Handler) serveChanges(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, "since", "until", "by", "prefix", "set", "order", "limit", "cursor")
	if err != nil {
		return message.Reply{}, err
	}
	if given["set"] != "" {
		return h.events(c, given)
	}
	limit, after, below, err := h.feedOf(c, given)
	if err != nil {
		return message.Reply{}, err
	}
	wanted, err := changesWanted(given)
	if err != nil {
		return message.Reply{}, err
	}
	names := h.config.Registry.Names
	read, err := changesInOrder(names, given["order"])
	if err != nil {
		return message.Reply{}, err
	}
	document := changePage{Changes: []registry.ChangeSet{}}
	var failed error
	begun := names.Now()
	err = read(c.Context(), after, func(set registry.ChangeSet) bool {
		if document.More = len(document.Changes) == limit || names.Now().Sub(begun) >= searchWithin; document.More {
			return false
		}
		is := wanted(set)
		if is && below != "" {
			is, failed = names.Touches(c.Context(), set.Number, below)
		}
		if after = set.Number; is {
			document.Changes = append(document.Changes, set)
		}
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	document.Next = seqCursor(after)
	return feedReply(c, document, document.Next, document.More), err
}

// changesInOrder returns what reads change sets in an order: that in which they were made, or the newest first.
func changesInOrder(names Names, order string) (func(context.Context, registry.Seq, func(registry.ChangeSet) bool) error, error) {
	switch order {
	case "", "oldest":
		return names.ChangeSets, nil
	case "newest":
		return names.ChangeSetsBefore, nil
	default:
		return nil, fmt.Errorf("%w: order is oldest or newest, which are first", problem.ErrSelection)
	}
}

// serveChangeSet answers a change set. Whoever may see some names only must ask for those that it has changed.
func (h *Handler) serveChangeSet(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, "prefix")
	if err != nil {
		return message.Reply{}, err
	}
	number, err := setNumber(c.job)
	if err != nil {
		return message.Reply{}, err
	}
	s, _, err := h.search(c, given)
	if err != nil {
		return message.Reply{}, err
	}
	names := h.config.Registry.Names
	var set registry.ChangeSet
	err = names.Store().Read(c.Context(), func(tx registry.Tx) error {
		set, err = tx.ChangeSet(number)
		return err
	})
	is := true
	if err == nil && s.Below != "" {
		is, err = names.Touches(c.Context(), number, s.Below)
	}
	if s.Below != "" && (err == nil && !is || errors.Is(err, registry.ErrUnknown)) { // one answer: whether others have made it is theirs
		err = fmt.Errorf("%w: no change set %d has changed anything that begins with %s", registry.ErrUnknown, number, s.Below)
	}
	return message.JSON(http.StatusOK, set), err
}

// setNumber parses the number of a change set.
func setNumber(text string) (registry.Seq, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 1 {
		return 0, fmt.Errorf("%w: set is the number of a change set", problem.ErrSelection)
	}
	return registry.Seq(number), nil
}

// serveVersions answers a page of all that happened to names, for those who keep a copy.
func (h *Handler) serveVersions(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, "prefix", "limit", "cursor")
	if err != nil {
		return message.Reply{}, err
	}
	return h.events(c, given)
}

// events answers a page of events, of a change set where one is given.
func (h *Handler) events(c *call, given map[string]string) (message.Reply, error) {
	if err := onlyFeed(given); err != nil {
		return message.Reply{}, err
	}
	limit, after, below, err := h.feedOf(c, given)
	if err != nil {
		return message.Reply{}, err
	}
	asked := registry.Events{After: after, Below: below, Limit: limit}
	if text := given["set"]; text != "" {
		if asked.Set, err = setNumber(text); err != nil {
			return message.Reply{}, err
		}
	}
	found, last, more, err := h.config.Registry.Names.Events(c.Context(), asked)
	if err != nil {
		return message.Reply{}, err
	}
	document := eventPage{Events: make([]registryEvent, len(found)), Next: seqCursor(last), More: more}
	for i, e := range found {
		document.Events[i] = newEvent(e)
	}
	return feedReply(c, document, document.Next, more), nil
}

func newEvent(e registry.Event) registryEvent {
	made := registryEvent{
		Seq: e.Seq, Set: e.Set, Kind: e.Kind, Name: e.Name, Prefix: e.Key.Kind == registry.KindPrefix, Versions: e.Of, By: e.By, Note: e.Note, Time: e.Time,
	}
	if e.Kind == "" {
		version := api.NewName(e.Version)
		made.Kind, made.Version = "version", &version
	}
	return made
}

// onlyFeed returns an error where parameters are given that choose change sets, for one that is named.
func onlyFeed(given map[string]string) error {
	for _, name := range []string{"since", "until", "by", "order"} {
		if given[name] != "" {
			return fmt.Errorf("%w: %s chooses change sets, and set is the number of one", problem.ErrSelection, name)
		}
	}
	return nil
}

// feedOf returns how many, after which number, and what the names begin with that the actor asks for, and may.
func (h *Handler) feedOf(c *call, given map[string]string) (limit int, after registry.Seq, below string, err error) {
	limit, text, err := pageOf(given)
	if err != nil {
		return 0, 0, "", err
	}
	if text != "" {
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil || number < 0 {
			return 0, 0, "", errCursor
		}
		after = registry.Seq(number)
	}
	s, _, err := h.search(c, map[string]string{"prefix": given["prefix"]})
	return limit, after, s.Below, err
}

// changesWanted returns which change sets are asked for, whatever they have changed.
func changesWanted(given map[string]string) (func(registry.ChangeSet) bool, error) {
	var from, to time.Time
	var err error
	if text := given["since"]; text != "" {
		if from, err = beginningOf(text); err != nil {
			return nil, err
		}
	}
	if text := given["until"]; text != "" {
		if to, err = timeOf(text); err != nil {
			return nil, err
		}
	}
	by := given["by"]
	return func(s registry.ChangeSet) bool {
		return !s.Time.Before(from) && (to.IsZero() || !s.Time.After(to)) && (by == "" || s.By == by)
	}, nil
}

// beginningOf parses a time, or the beginning of a day.
func beginningOf(text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, nil
	}
	t, ok := resolver.ParseAt(text)
	if !ok {
		return time.Time{}, fmt.Errorf("%w: since is a time such as 2031-05-01T12:00:00Z, or a day such as 2031-05-01", problem.ErrSelection)
	}
	return t, nil
}

func seqCursor(after registry.Seq) string { return cursorOf(strconv.FormatInt(int64(after), 10)) }

// feedReply returns a page of a list that grows: its cursor is also for what comes later, and there is a link to the next page (RFC 8288)
// where there is more now.
func feedReply(c *call, document any, next string, more bool) message.Reply {
	r := message.JSON(http.StatusOK, document)
	if more {
		query := c.URL.Query()
		query.Set("cursor", next)
		target := url.URL{Path: c.URL.Path, RawQuery: query.Encode()}
		r.Fields.Set("Link", "<"+target.String()+`>; rel="next"`)
	}
	return r
}
