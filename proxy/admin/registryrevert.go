package admin

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
)

const (
	// maxReverted bounds the versions of a change set that is taken back while a client waits: they are a transaction.
	maxReverted = 10_000
	// maxRevertedShown bounds the names that the reply has, and the conflicts.
	maxRevertedShown = 1000
)

// reverting says which change set is taken back.
type reverting struct {
	Set  registry.Seq `json:"set"`
	Note string       `json:"note"` // why, which is also the reason of names that are withdrawn
}

// revertReport says what was taken back, or would be.
type revertReport struct {
	Set    registry.Seq `json:"set"` // the change set that was made; 0 where nothing was changed
	DryRun bool         `json:"dry_run"`
	// Names and Conflicts are how many were taken back, and how many were not.
	Names     int64 `json:"names"`
	Conflicts int64 `json:"conflicts"`
	// Differences and Rejected are the first 1000 of each.
	Differences []diff.Change `json:"differences"`
	Rejected    []notReverted `json:"rejected"`
}

// notReverted is what was not taken back, and why.
type notReverted struct {
	Name   string `json:"name"`
	Prefix bool   `json:"prefix,omitempty"`
	Reason string `json:"reason"`
}

// serveRevert takes a change set back, or says what that would do.
func (h *Handler) serveRevert(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, "dry_run")
	if err != nil {
		return message.Reply{}, err
	}
	isDry, err := dryRun(given)
	if err != nil {
		return message.Reply{}, err
	}
	var asked reverting
	if err := c.decode(&asked); err != nil {
		return message.Reply{}, err
	}
	if err := errors.Join(c.actor.May(registry.Admin, registry.Key{}), c.actor.Does(registry.ActWithdraw)); err != nil {
		return message.Reply{}, err
	}
	if err := h.checkReverted(c, asked); err != nil {
		return message.Reply{}, err
	}
	document := revertReport{DryRun: isDry, Differences: []diff.Change{}, Rejected: []notReverted{}}
	report, err := h.config.Registry.Names.Revert(c.Context(), c.actor, registry.Revert{
		Set: asked.Set, Note: asked.Note, DryRun: isDry,
		Reverted: func(change registry.Changed) {
			if len(document.Differences) < maxRevertedShown {
				document.Differences = append(document.Differences, diff.Of(change))
			}
		},
		Conflict: func(key registry.Key, err error) {
			if len(document.Rejected) < maxRevertedShown {
				document.Rejected = append(document.Rejected, notReverted{Name: key.Name, Prefix: key.Kind == registry.KindPrefix, Reason: err.Error()})
			}
		},
	})
	document.Set, document.Names, document.Conflicts = report.Set.Number, report.Names, report.Conflicts
	return message.JSON(http.StatusOK, document), err
}

// checkReverted returns an error for a change set that is too large to be taken back while a client waits, or that there is not.
func (h *Handler) checkReverted(c *call, asked reverting) error {
	return h.config.Registry.Names.Store().Read(c.Context(), func(tx registry.Tx) error {
		if asked.Set < 1 {
			return fmt.Errorf("%w: set is the number of a change set", registry.ErrInvalid)
		}
		set, err := tx.ChangeSet(asked.Set)
		if err == nil && set.Rows > maxReverted {
			err = fmt.Errorf("%w: the change set %d has %d versions, and more than %d are taken back by the command alone: urnd registry revert %d",
				registry.ErrInvalid, set.Number, set.Rows, maxReverted, set.Number)
		}
		return err
	})
}
