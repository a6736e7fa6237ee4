package api

import (
	"bytes"
	"context"
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
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/mint"
	"github.com/urnd/urnd/resolver/registry/service"
)

// change is a requested change of one entry.
type change struct {
	registry.Edit
	condition condition
	dryRun    bool // report the result and write nothing
}

// changeOf returns the change of a request: its key and its precondition.
func changeOf(c *call, use service.Permission) (of change, err error) {
	if of.dryRun, err = boolean("dry_run", c.get("dry_run")); err != nil {
		return of, err
	}
	if of.Key, err = c.key(c.get("uri")); err == nil { // before the body is read
		of.Key, err = c.service.CanonicalKey(c.actor, use, of.Key)
	}
	if err == nil {
		of.condition, err = conditionOf(httpmessage.NewHeader(c.Header))
	}
	of.IfVersion = registry.AnyVersion
	return of, err
}

// apply makes a change if its precondition is true in the same transaction.
func (of change) apply(
	c *call, by func(context.Context, registry.Actor, bool, ...registry.Edit) ([]registry.Changed, error),
	edit func(before registry.Entry) (registry.Record, error),
) (message.Reply, error) {
	of.Change = func(before registry.Entry) (registry.Record, error) {
		if err := of.condition.check(before); err != nil {
			return registry.Record{}, err
		}
		return edit(before)
	}
	changed, err := by(c.Context(), c.actor, of.dryRun, of.Edit)
	if err != nil {
		return message.Reply{}, err
	}
	before, after := changed[0].Before, changed[0].After
	r := entryReply(http.StatusOK, after, c.service.Warning(after.Key))
	if !of.dryRun && !before.Exists() {
		r.Status, r.Location = http.StatusCreated, c.URL.Path+"?uri="+url.QueryEscape(after.Name)
	}
	return r, nil
}

// servePut registers an entry, or replaces it as a whole. An existing entry is only replaced with a
// precondition, since the client may not have seen it.
func servePut(c *call) (message.Reply, error) {
	of, err := changeOf(c, service.ToChange)
	if err != nil {
		return message.Reply{}, err
	}
	text, err := c.document(typeJSON)
	if err != nil {
		return message.Reply{}, err
	}
	document, err := c.read(of.Key, text)
	if err != nil {
		return message.Reply{}, err
	}
	given, _ := members(text)
	_, of.Activate = given["status"]
	of.Note = document.Note
	return of.apply(c, c.service.Change, func(before registry.Entry) (registry.Record, error) {
		if before.Exists() && of.condition.isEmpty() {
			return registry.Record{}, problem.ErrPreconditionRequired
		}
		return document.Record, nil
	})
}

// read parses the document of a key. Its name may be missing, but must not differ from the key.
func (c *call) read(key registry.Key, text []byte) (api.Name, error) {
	document, err := api.ReadName(text)
	if err != nil || document.Name == "" {
		return document, err
	}
	named, err := c.service.MatchesName(key, document.Name)
	if err == nil && (!named || document.Prefix && key.Kind == registry.KindName) {
		err = fmt.Errorf("%w: the document has the URI %s, the request %s", registry.ErrInvalid, document.Key(), key)
	}
	return document, err
}

// servePatch changes some members of an entry (RFC 7396), whatever the others are.
func servePatch(c *call) (message.Reply, error) {
	of, err := changeOf(c, service.ToChange)
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
	// encoding/json would accept "Status" for "status": the two could not be told apart.
	for name := range changes {
		if !slices.Contains(api.NameMembers(), name) {
			return message.Reply{}, fmt.Errorf("%w: unknown member %q", registry.ErrInvalid, name)
		}
	}
	_, of.Activate = changes["status"]
	of.KeepNote = len(changes) == 1
	if text, ok := changes["note"]; ok {
		if err := json.Unmarshal(text, &of.Note); err != nil {
			return message.Reply{}, fmt.Errorf("%w: note: %w", registry.ErrInvalid, err)
		}
	}
	return of.apply(c, c.service.Change, func(before registry.Entry) (registry.Record, error) {
		if !before.Exists() {
			return registry.Record{}, fmt.Errorf("%w: %s", registry.ErrUnknown, of.Key)
		}
		text, err := mergePatch(message.MarshalLine(api.NewName(before)), patch)
		if err != nil {
			return registry.Record{}, fmt.Errorf("%w: %w", registry.ErrInvalid, err)
		}
		document, err := c.read(of.Key, text)
		if !of.Activate {
			document.Record = registry.Activated(before, document.Record)
		}
		return document.Record, err
	})
}

// serveWithdraw withdraws an entry.
func serveWithdraw(c *call) (message.Reply, error) {
	of, err := changeOf(c, service.ToWithdraw)
	if err != nil {
		return message.Reply{}, err
	}
	var document api.Withdrawal
	if err := c.decode(&document); err != nil {
		return message.Reply{}, err
	}
	of.Note = document.Note
	return of.apply(c, c.service.Withdraw, registry.Withdraw(document.Reason, document.Successors...))
}

// serveSupersede withdraws names in favour of others, in one transaction.
func serveSupersede(c *call) (message.Reply, error) {
	var document api.Superseding
	if err := c.decode(&document); err != nil {
		return message.Reply{}, err
	}
	changed, err := c.service.Supersede(c.Context(), c.actor, false, service.Superseding(document))
	names := make([]api.Name, len(changed))
	for i := range changed {
		names[i] = api.NewName(changed[i].After)
	}
	return message.JSON(http.StatusOK, api.NamePage{Names: names}), err
}

// serveMint registers the next free names of a pattern.
func serveMint(c *call) (message.Reply, error) {
	document := api.Minting{Count: 1}
	if err := c.decode(&document); err != nil {
		return message.Reply{}, err
	}
	names, err := c.service.Mint(c.Context(), c.actor, mint.Request{
		Pattern: document.Pattern, Count: document.Count, From: document.From, Note: document.Note,
	})
	return message.JSON(http.StatusCreated, api.Minted{Names: names}), err
}

// servePurgeSandbox removes the entries below a prefix in a sandbox, with their history.
func servePurgeSandbox(c *call) (message.Reply, error) {
	if c.get("prefix") == "" {
		return message.Reply{}, fmt.Errorf("%w: prefix is required", problem.ErrSelection)
	}
	n, err := c.service.Purge(c.Context(), c.actor, c.get("prefix"), c.get("note"))
	return message.JSON(http.StatusOK, map[string]int{"purged": n}), err
}

// mergePatch applies a merge patch to a JSON document: RFC 7396 section 2. Members keep their order and their text,
// so that a patch of other members leaves metadata as it is.
func mergePatch(target, patch json.RawMessage) (json.RawMessage, error) {
	if _, ok := members(patch); !ok {
		return patch, nil
	}
	changes, err := field.ParseMembers(patch)
	if err != nil {
		return nil, err
	}
	var object []field.Member
	if _, ok := members(target); ok {
		if object, err = field.ParseMembers(target); err != nil {
			return nil, err
		}
	}
	places := make(map[string]int, len(object))
	for i, m := range object {
		places[m.Name] = i
	}
	for _, change := range changes {
		i, ok := places[change.Name]
		if !ok {
			i, object = len(object), append(object, field.Member{Name: change.Name})
		}
		if string(change.Value) == "null" {
			object[i].Value = nil
		} else if object[i].Value, err = mergePatch(object[i].Value, change.Value); err != nil {
			return nil, err
		}
	}
	return field.FormatObject(slices.DeleteFunc(object, func(m field.Member) bool { return m.Value == nil })), nil
}

// members returns the members of a JSON object; ok is false for other JSON values.
func members(text json.RawMessage) (map[string]json.RawMessage, bool) {
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' {
		return nil, false
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal(text, &object)
	return object, err == nil
}
