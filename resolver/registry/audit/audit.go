// Package audit logs the changes of a registry and of its tokens. Changes enter with their actor, and a
// structured log record (log/slog) leaves for each: author, token, client and request, the name, and the
// changed fields before and after. Field values are JSON (RFC 8259), which contains no line ends, so that
// input cannot forge records.
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

// LogChanges returns a function for registry.Config.Audit that logs each change as a record; nil without a log.
// The fields before and after are JSON.
func LogChanges(log *slog.Logger) func(context.Context, registry.Actor, []registry.Changed) {
	if log == nil {
		return nil
	}
	return func(ctx context.Context, actor registry.Actor, changes []registry.Changed) {
		for _, c := range changes {
			message := "registry changed"
			if !c.After.Exists() {
				message = "registry sandbox purged"
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

// LogTokenCreated returns a function for service.Config that logs each created token; nil without a log.
func LogTokenCreated(log *slog.Logger) func(context.Context, registry.Actor, token.Token) {
	return tokens(log, "registry token created")
}

// LogTokenRevoked is LogTokenCreated for revoked tokens.
func LogTokenRevoked(log *slog.Logger) func(context.Context, registry.Actor, token.Token) {
	return tokens(log, "registry token revoked")
}

func tokens(log *slog.Logger, message string) func(context.Context, registry.Actor, token.Token) {
	if log == nil {
		return nil
	}
	return func(ctx context.Context, actor registry.Actor, t token.Token) {
		log.LogAttrs(ctx, slog.LevelInfo, message,
			slog.String("by", actor.Name), slog.String("token", actor.Token),
			slog.String("client", actor.Client), slog.String("request", actor.Request),
			slog.String("id", t.ID), slog.String("name", t.Name), slog.String("role", t.Role.String()),
			slog.Any("prefixes", t.Prefixes), slog.String("actions", fmt.Sprint(t.Actions)),
			slog.Time("expires", t.Expires), slog.String("note", t.Note))
	}
}

// differences returns the changed members as JSON, before and after.
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

// members returns the members of an entry's document, without its key and version.
func members(e *registry.Entry) map[string]json.RawMessage {
	of := make(map[string]json.RawMessage)
	if !e.Exists() {
		return of
	}
	object, err := field.RecordFields().AppendMembers([]byte("{"), &e.Record)
	if err == nil {
		err = json.Unmarshal(append(object, '}'), &of)
	}
	if err != nil {
		return map[string]json.RawMessage{"error": json.RawMessage(`"invalid JSON"`)}
	}
	if e.Redacted {
		of["redacted"] = json.RawMessage("true")
	}
	return of
}

func jsonText(members map[string]json.RawMessage) string {
	text, err := json.Marshal(members)
	if err != nil {
		return "{}" // every member was valid JSON
	}
	return string(text)
}
