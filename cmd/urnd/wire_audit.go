package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver/registry"
)

// audit is called with changes of a registry that were committed.
type audit = func(ctx context.Context, actor registry.Actor, changes []registry.Changed)

// auditLog returns what logs each change as a record: who, from where, what, before and after. Texts are JSON, which
// has no line ends. It is nil where there is no log.
func auditLog(log *slog.Logger) audit {
	if log == nil {
		return nil
	}
	return func(ctx context.Context, actor registry.Actor, changes []registry.Changed) {
		for _, c := range changes {
			message := "the registry was changed"
			if !c.After.Exists() {
				message = "a sandbox of the registry was purged"
			}
			before, after := differences(c)
			log.LogAttrs(ctx, slog.LevelInfo, message,
				slog.String("by", actor.Name), slog.String("token", actor.Token), slog.String("client", actor.Client), slog.String("request", actor.Request),
				slog.String("name", c.After.String()), slog.Int("version", c.After.Version),
				slog.String("before", before), slog.String("after", after), slog.String("note", c.After.Note))
		}
	}
}

// differences returns the members that a change has changed, as JSON: as they were, and as they are.
func differences(c registry.Changed) (before, after string) {
	was, is := documentMembers(c.Before), documentMembers(c.After)
	for name, value := range was {
		if other, ok := is[name]; ok && bytes.Equal(value, other) {
			delete(was, name)
			delete(is, name)
		}
	}
	return jsonText(was), jsonText(is)
}

// documentMembers returns the members of the document of an entry, but those of its version.
func documentMembers(e registry.Entry) map[string]json.RawMessage {
	members := make(map[string]json.RawMessage)
	if !e.Exists() {
		return members
	}
	document := api.NewName(e)
	document.Name, document.Prefix, document.Version, document.Seq, document.By, document.Note = "", false, 0, 0, "", ""
	text, err := json.Marshal(document)
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	if err != nil {
		return map[string]json.RawMessage{"error": json.RawMessage(`"the entry is not JSON"`)}
	}
	delete(members, "name")
	delete(members, "changed")
	return members
}

func jsonText(members map[string]json.RawMessage) string {
	text, err := json.Marshal(members)
	if err != nil {
		return "{}" // each of them was JSON
	}
	return string(text)
}
