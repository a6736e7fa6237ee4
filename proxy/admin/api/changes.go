package api

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
	"github.com/urnd/urnd/resolver/registry/service"
)

// changePage is a page of change sets.
type changePage struct {
	Changes []registry.ChangeSet `json:"changes"`
	Next    string               `json:"next"` // also set on the last page: later changes follow it
	More    bool                 `json:"more"`
}

// eventPage is a page of events of names.
type eventPage struct {
	Events []registryEvent `json:"events"`
	Next   string          `json:"next"`
	More   bool            `json:"more"`
}

// registryEvent is a new version of a name, or a purge or redaction of versions.
type registryEvent struct {
	Seq      registry.Seq   `json:"seq"`
	Set      registry.Seq   `json:"set"`
	Kind     string         `json:"kind"` // version, purge or redaction
	Name     string         `json:"name"`
	Prefix   bool           `json:"prefix,omitempty"`
	Version  *api.Name      `json:"version,omitempty"`
	Versions []registry.Seq `json:"versions,omitempty"` // purged or redacted versions, by their Seq
	By       string         `json:"by,omitempty"`
	Note     string         `json:"note,omitempty"`
	Time     time.Time      `json:"time,omitzero"`
}

// serveChanges returns a page of change sets, or of the events of one of them. An actor that may read only
// some names must restrict the request to these.
func serveChanges(c *call) (message.Reply, error) {
	if c.get("set") != "" {
		return serveEvents(c)
	}
	of, err := service.ParseChangeFilter(c.get)
	if err != nil {
		return message.Reply{}, err
	}
	found, err := c.service.ChangeSets(c.Context(), c.actor, of, pageOf(c))
	return pageReply(c, changePage{notNil(found.Sets), found.Next, found.More}, found.Next, found.More), err
}

// serveChangeSet returns a change set. An actor that may read only some names must restrict the request to
// those that it has changed.
func serveChangeSet(c *call) (message.Reply, error) {
	number, err := setNumber(c.id)
	if err != nil {
		return message.Reply{}, err
	}
	set, err := c.service.ChangeSet(c.Context(), c.actor, number, c.get("prefix"))
	return message.JSON(http.StatusOK, set), err
}

// setNumber parses the number of a change set.
func setNumber(text string) (registry.Seq, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 1 {
		return 0, fmt.Errorf("%w: set must be the number of a change set", problem.ErrSelection)
	}
	return registry.Seq(number), nil
}

// serveVersions returns a page of all events of names, for replicas.
func serveVersions(c *call) (message.Reply, error) {
	return serveEvents(c)
}

// serveEvents returns a page of events, restricted to the change set of the parameter "set" if it is given.
func serveEvents(c *call) (message.Reply, error) {
	for _, name := range []string{"since", "until", "by", "order"} {
		if c.get(name) != "" {
			return message.Reply{}, fmt.Errorf("%w: %s cannot be combined with set", problem.ErrSelection, name)
		}
	}
	var set registry.Seq
	if text := c.get("set"); text != "" {
		var err error
		if set, err = setNumber(text); err != nil {
			return message.Reply{}, err
		}
	}
	found, err := c.service.Events(c.Context(), c.actor, set, c.get("prefix"), pageOf(c))
	document := eventPage{make([]registryEvent, len(found.Events)), found.Next, found.More}
	for i := range found.Events {
		document.Events[i] = newEvent(&found.Events[i])
	}
	return pageReply(c, document, found.Next, found.More), err
}

func newEvent(e *registry.Event) registryEvent {
	made := registryEvent{
		Seq: e.Seq, Set: e.Set, Kind: e.Kind, Name: e.Name, Prefix: e.Key.Kind == registry.KindPrefix,
		Versions: e.Affected, By: e.By, Note: e.Note, Time: e.Time,
	}
	if e.Kind == "" {
		version := api.NewName(e.Version)
		made.Kind, made.Version = "version", &version
	}
	return made
}

// maxRevertedShown limits the names and the conflicts in the reply to a revert.
const maxRevertedShown = 1000

// revertReport is the result of a revert, or of its dry run.
type revertReport struct {
	Set    registry.Seq `json:"set"` // the change set of the revert; 0 if nothing was changed
	DryRun bool         `json:"dry_run"`
	// Names and Conflicts are the numbers of reverted and of rejected names.
	Names     int64 `json:"names"`
	Conflicts int64 `json:"conflicts"`
	// Differences and Rejected are the first 1000 of each.
	Differences []diff.Change `json:"differences"`
	Rejected    []notReverted `json:"rejected"`
}

// notReverted is a name that was not reverted, with the reason.
type notReverted struct {
	Name   string `json:"name"`
	Prefix bool   `json:"prefix,omitempty"`
	Reason string `json:"reason"`
}

// serveRevert reverts a change set, or reports what a revert would change.
func serveRevert(c *call) (message.Reply, error) {
	dry, err := boolean("dry_run", c.get("dry_run"))
	if err != nil {
		return message.Reply{}, err
	}
	var of struct {
		Set  registry.Seq `json:"set"`
		Note string       `json:"note"` // the reason of the revert, and of names that it withdraws
	}
	if err := c.decode(&of); err != nil {
		return message.Reply{}, err
	}
	document := revertReport{DryRun: dry, Differences: []diff.Change{}, Rejected: []notReverted{}}
	report, err := c.service.Revert(c.Context(), c.actor, registry.Revert{
		Set: of.Set, Note: of.Note, DryRun: dry,
		Reverted: func(change registry.Changed) {
			if len(document.Differences) < maxRevertedShown {
				document.Differences = append(document.Differences, diff.Of(change))
			}
		},
		Conflict: func(key registry.Key, err error) {
			if len(document.Rejected) < maxRevertedShown {
				document.Rejected = append(document.Rejected,
					notReverted{key.Name, key.Kind == registry.KindPrefix, err.Error()})
			}
		},
	})
	document.Set, document.Names, document.Conflicts = report.Set.Number, report.Names, report.Conflicts
	return message.JSON(http.StatusOK, document), err
}
