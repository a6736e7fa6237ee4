package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/systemd"
)

// audit is called with changes of a registry that were committed.
type audit = func(ctx context.Context, actor registry.Actor, changes []registry.Changed)

// auditLog returns what logs each change as a record: who, from where, what, before and after. Texts are JSON, which
// has no line ends.
func auditLog(log *slog.Logger) audit {
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

// auditJournal is auditLog for commands: into the journal of systemd, as sudo does it; nil where there is none. The
// versions themselves say in any case by whom and when they were made.
func auditJournal() audit {
	journal, err := systemd.NewJournal(slog.HandlerOptions{})
	if err != nil {
		return nil
	}
	return auditLog(slog.New(journal))
}

// auditToken records in the journal what was done with a token.
func auditToken(ctx context.Context, message, by string, t registry.Token) {
	journal, err := systemd.NewJournal(slog.HandlerOptions{})
	if err != nil {
		return
	}
	slog.New(journal).LogAttrs(ctx, slog.LevelInfo, message, slog.String("by", by), slog.String("token", t.ID), slog.String("name", t.Name),
		slog.String("role", t.Role.String()), slog.Any("prefixes", t.Prefixes), slog.Time("expires", t.Expires), slog.String("note", t.Note))
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
