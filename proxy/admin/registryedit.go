package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/mint"
)

// change is a change of one entry that a request asks for.
type change struct {
	key       registry.Key
	condition condition
	activate  bool // the request says that a withdrawn entry is to be active
	keepNote  bool // the request has only a note
	dryRun    bool // what would be is answered, and nothing is written
}

// changeOf returns the entry that a request is to change, and on which condition.
func (h *Handler) changeOf(c *call) (change, error) {
	given, err := parametersOf(c.Request, "uri", "dry_run")
	if err != nil {
		return change{}, err
	}
	isDry, err := dryRun(given)
	if err != nil {
		return change{}, err
	}
	key, err := h.key(c, registry.Writer, given["uri"])
	if err != nil {
		return change{}, err
	}
	condition, err := conditionOf(httpmessage.LinesOf(c.Header))
	return change{key: key, condition: condition, dryRun: isDry}, err
}

// dryRun returns the parameter "dry_run".
func dryRun(given map[string]string) (is bool, err error) {
	if text := given["dry_run"]; text != "" {
		is, err = boolean("dry_run", text)
	}
	return is, err
}

// apply makes a change in one transaction, if its condition is true then.
func (h *Handler) apply(c *call, of change, note string, edit func(before registry.Entry) (registry.Record, error)) (message.Reply, error) {
	var was registry.Entry
	made := registry.Edit{
		Key: of.key, IfVersion: registry.Any, Note: note, Activate: of.activate, KeepNote: of.keepNote,
		Change: func(before registry.Entry) (registry.Record, error) {
			was = before
			if err := of.condition.check(before); err != nil {
				return registry.Record{}, err
			}
			record, err := edit(before)
			if err == nil && record.Status == registry.Withdrawn && before.Status != registry.Withdrawn {
				err = c.actor.Does(registry.ActWithdraw)
			}
			return record, err
		},
	}
	if of.dryRun {
		changes, err := h.config.Registry.Names.Preview(c.Context(), c.actor, made)
		if err != nil {
			return message.Reply{}, err
		}
		for _, change := range changes {
			was = change.After
		}
		return h.changedReply(http.StatusOK, was), nil
	}
	after, err := h.config.Registry.Names.Apply(c.Context(), c.actor, made)
	if err != nil {
		return message.Reply{}, err
	}
	if was.Exists() {
		return h.changedReply(http.StatusOK, after[0]), nil
	}
	r := h.changedReply(http.StatusCreated, after[0])
	r.Location = c.URL.Path + "?uri=" + url.QueryEscape(after[0].Name)
	return r, nil
}

// servePut registers an entry, or replaces all of it. What there is already is only replaced with a condition,
// since the client may not have seen it.
func (h *Handler) servePut(c *call) (message.Reply, error) {
	of, err := h.changeOf(c)
	if err != nil {
		return message.Reply{}, err
	}
	text, err := c.document(typeJSON)
	if err != nil {
		return message.Reply{}, err
	}
	document, record, err := h.read(of.key, text)
	if err != nil {
		return message.Reply{}, err
	}
	given, _ := members(text)
	_, of.activate = given["status"]
	return h.apply(c, of, document.Note, func(before registry.Entry) (registry.Record, error) {
		if before.Exists() && of.condition.isEmpty() {
			return registry.Record{}, problem.ErrPrecondition
		}
		return record, nil
	})
}

// read reads the document of a key. Its name may be missing, but not be another one.
func (h *Handler) read(key registry.Key, text []byte) (api.Name, registry.Record, error) {
	document, err := api.ReadName(text)
	if err != nil {
		return document, registry.Record{}, err
	}
	if document.Name != "" {
		named, err := h.config.Registry.Names.CanonicalKey(registry.Key{Kind: key.Kind, Name: document.Name})
		if err != nil {
			return document, registry.Record{}, err
		}
		if named != key || document.Prefix && key.Kind == registry.KindName {
			return document, registry.Record{}, fmt.Errorf("%w: the document is of %s, and the request of %s", registry.ErrInvalid, document.Key(), key)
		}
	}
	return document, document.Record, nil
}

// servePatch changes some members of an entry (RFC 7396), whatever the others are.
func (h *Handler) servePatch(c *call) (message.Reply, error) {
	of, err := h.changeOf(c)
	if err != nil {
		return message.Reply{}, err
	}
	patch, err := c.document(typeMergePatch)
	if err != nil {
		return message.Reply{}, err
	}
	changes, ok := members(patch)
	if !ok {
		return message.Reply{}, fmt.Errorf("%w: the patch is not a JSON object", registry.ErrInvalid)
	}
	for name := range changes { // encoding/json would take "Status" for "status", and then not know which one is meant
		if !slices.Contains(api.NameMembers(), name) {
			return message.Reply{}, fmt.Errorf("%w: a name has no member %q", registry.ErrInvalid, name)
		}
	}
	_, of.activate = changes["status"]
	of.keepNote = len(changes) == 1
	var note string
	if text, ok := changes["note"]; ok {
		if err := json.Unmarshal(text, &note); err != nil {
			return message.Reply{}, fmt.Errorf("%w: note: %w", registry.ErrInvalid, err)
		}
	}
	return h.apply(c, of, note, func(before registry.Entry) (registry.Record, error) {
		if !before.Exists() {
			return registry.Record{}, fmt.Errorf("%w: %s", registry.ErrUnknown, of.key)
		}
		text, err := mergePatch(message.Line(api.NewName(before)), patch)
		if err != nil {
			return registry.Record{}, fmt.Errorf("%w: %w", registry.ErrInvalid, err)
		}
		_, record, err := h.read(of.key, text)
		if !of.activate {
			record = registry.Activated(before, record)
		}
		return record, err
	})
}

// serveWithdraw withdraws an entry.
func (h *Handler) serveWithdraw(c *call) (message.Reply, error) {
	of, err := h.changeOf(c)
	if err != nil {
		return message.Reply{}, err
	}
	var document api.Withdrawal
	if err := c.decode(&document); err != nil {
		return message.Reply{}, err
	}
	return h.apply(c, of, document.Note, registry.Withdraw(document.Reason, document.Successors...))
}

// maxSuperseded bounds the names that are superseded at once.
const maxSuperseded = 1000

// serveSupersede withdraws names in favour of others, all at once.
func (h *Handler) serveSupersede(c *call) (message.Reply, error) {
	if _, err := parametersOf(c.Request); err != nil {
		return message.Reply{}, err
	}
	var document api.Superseding
	if err := c.decode(&document); err != nil {
		return message.Reply{}, err
	}
	if len(document.Names) > maxSuperseded {
		return message.Reply{}, fmt.Errorf("%w: more than %d names", registry.ErrInvalid, maxSuperseded)
	}
	edits, err := registry.Supersede(document.Names, document.Successors, document.Reason, document.Note)
	if err != nil {
		return message.Reply{}, err
	}
	after, err := h.config.Registry.Names.Apply(c.Context(), c.actor, edits...)
	if err != nil {
		return message.Reply{}, err
	}
	return message.JSON(http.StatusOK, api.NamePage{Names: api.NewNames(after)}), nil
}

// serveMint registers the next free names of a pattern.
func (h *Handler) serveMint(c *call) (message.Reply, error) {
	if _, err := parametersOf(c.Request); err != nil {
		return message.Reply{}, err
	}
	document := api.Minting{Count: 1}
	if err := c.decode(&document); err != nil {
		return message.Reply{}, err
	}
	names, err := h.config.Registry.Mints.Mint(c.Context(), c.actor, mint.Request{
		Pattern: document.Pattern, N: document.Count, From: document.From, Note: document.Note,
	})
	if err != nil {
		return message.Reply{}, err
	}
	return message.JSON(http.StatusCreated, api.Minted{Names: names}), nil
}

// servePurgeSandbox removes what is below a prefix in a sandbox, with its history.
func (h *Handler) servePurgeSandbox(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, "prefix", "note")
	if err != nil {
		return message.Reply{}, err
	}
	if given["prefix"] == "" {
		return message.Reply{}, fmt.Errorf("%w: prefix is required", problem.ErrSelection)
	}
	prefix, err := h.config.Registry.Names.CanonicalPrefix(given["prefix"])
	if err != nil {
		return message.Reply{}, err
	}
	n, err := h.config.Registry.Names.Purge(c.Context(), c.actor, prefix, given["note"])
	if err != nil {
		return message.Reply{}, err
	}
	return message.JSON(http.StatusOK, map[string]int{"purged": n}), nil
}
