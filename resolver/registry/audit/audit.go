// Package audit logs the changes of a registry and of its tokens: who made them, from where, what, before and after.
package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/token"
)

// Changes returns what logs each change as a record, for registry.Config.Audit; nil where there is no log. Texts are JSON,
// which has no line ends.
func Changes(log *slog.Logger) func(context.Context, registry.Actor, []registry.Changed) {
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
				slog.String("by", actor.Name), slog.String("token", actor.Token),
				slog.String("client", actor.Client), slog.String("request", actor.Request),
				slog.String("name", c.After.String()), slog.Int("version", c.After.Version),
				slog.String("before", before), slog.String("after", after), slog.String("note", c.After.Note))
		}
	}
}

// Created returns what logs each token that was created, for service.Config; nil where there is no log.
func Created(log *slog.Logger) func(context.Context, registry.Actor, token.Token) {
	return tokens(log, "a token of the registry was created")
}

// Revoked is Created for tokens that were revoked.
func Revoked(log *slog.Logger) func(context.Context, registry.Actor, token.Token) {
	return tokens(log, "a token of the registry was revoked")
}

func tokens(log *slog.Logger, message string) func(context.Context, registry.Actor, token.Token) {
	if log == nil {
		return nil
	}
	return func(ctx context.Context, actor registry.Actor, t token.Token) {
		log.LogAttrs(ctx, slog.LevelInfo, message,
			slog.String("by", actor.Name), slog.String("token", actor.Token),
			slog.String("client", actor.Client), slog.String("request", actor.Request),
			slog.String("id", t.ID), slog.String("name", t.Name), slog.String("role", t.Role.String()), slog.Any("prefixes", t.Prefixes),
			slog.String("actions", fmt.Sprint(t.Actions)), slog.Time("expires", t.Expires), slog.String("note", t.Note))
	}
}

// differences returns the members that a change has changed, as JSON: as they were, and as they are.
func differences(c registry.Changed) (before, after string) {
	was, is := members(&c.Before), members(&c.After)
	for name, value := range was {
		if other, ok := is[name]; ok && bytes.Equal(value, other) {
			delete(was, name)
			delete(is, name)
		}
	}
	return jsonText(was), jsonText(is)
}

// members returns the members of the document of an entry, but its key and those of its version.
func members(e *registry.Entry) map[string]json.RawMessage {
	of := make(map[string]json.RawMessage)
	if !e.Exists() {
		return of
	}
	object, err := field.OfRecord().AppendMembers([]byte("{"), &e.Record)
	if err == nil {
		err = json.Unmarshal(append(object, '}'), &of)
	}
	if err != nil {
		return map[string]json.RawMessage{"error": json.RawMessage(`"the entry is not JSON"`)}
	}
	if e.Redacted {
		of["redacted"] = json.RawMessage("true")
	}
	return of
}

func jsonText(members map[string]json.RawMessage) string {
	text, err := json.Marshal(members)
	if err != nil {
		return "{}" // each of them was JSON
	}
	return string(text)
}
