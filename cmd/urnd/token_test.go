package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

// runTokens runs urnd registry token with arguments.
func runTokens(t *testing.T, store string, args ...string) (out, errs string, err error) {
	t.Helper()
	var o, e strings.Builder
	root := newRoot()
	root.SetOut(&o)
	root.SetErr(&e)
	root.SetArgs(append([]string{"registry", "token", args[0], "--store", "sqlite:" + store}, args[1:]...))
	err = root.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

func TestTokenCommands(t *testing.T) {
	store := filepath.Join(t.TempDir(), "registry.db")
	secret, errs, err := runTokens(t, store, "create", "--name", "loader", "--role", "writer", "--prefix", "URN:NBN:fi:", "--expires", "2132-01-01", "--note", "two\nlines")
	if err != nil || !strings.HasPrefix(secret, registry.TokenStart) || strings.Count(secret, "\n") != 1 || !strings.Contains(errs, "only now") {
		t.Fatalf("%q, %q, %v", secret, errs, err)
	}
	id := secret[len(registry.TokenStart):][:16]
	list, _, err := runTokens(t, store, "list")
	if err != nil || strings.Count(list, "\n") != 2 || !strings.Contains(list, id+"  writer  loader") || !strings.Contains(list, "2132-01-01T00:00:00Z") || strings.Contains(list, strings.TrimSpace(secret)) {
		t.Errorf("%v\n%s", err, list)
	}
	text, _, err := runTokens(t, store, "list", "--json")
	var token registry.Token
	if err := errors.Join(err, json.Unmarshal([]byte(text), &token)); err != nil || token.ID != id || token.Role != registry.Writer || token.Prefixes[0] != "urn:nbn:fi:" {
		t.Errorf("%v\n%s", err, text)
	}
	if out, _, err := runTokens(t, store, "revoke", id); err != nil || out != id+": revoked, the writer of loader\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, _, err := runTokens(t, store, "revoke", id); !errors.Is(err, registry.ErrUnknown) {
		t.Errorf("twice: %v", err)
	}
	for _, args := range [][]string{
		{"create"},
		{"create", "--name", "a"},
		{"create", "--name", "a", "--role", "root"},
		{"create", "--role", "reader"},
		{"create", "--name", "a", "--role", "reader", "--expires", "soon"},
		{"create", "--name", "a", "--role", "reader", "--expires", "2001-01-01"},
		{"create", "--name", "a", "--role", "reader", "--prefix", "no"},
		{"revoke"},
		{"list", "a"},
	} {
		if _, _, err := runTokens(t, store, args...); cli.StatusOf(err) != cli.StatusUsage {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// A record has only what has changed, on one line whatever names and notes contain.
func TestAuditLog(t *testing.T) {
	var text bytes.Buffer
	log := auditLog(slog.New(slog.NewTextHandler(&text, nil)))
	actor := registry.Actor{Name: "a\nb", Token: "t", Client: "192.0.2.1", Request: "r"}
	at := time.Unix(1_900_000_000, 0).UTC()
	before := registry.Entry{Key: registry.Name("urn:x:a"), Version: 1, Changed: at, Record: registry.Record{Since: at, Contact: "c", Targets: []registry.Target{{URI: "https://a.example/"}}}}
	after := before
	after.Version, after.Contact, after.Note = 2, "d\r\ne", "n\nlevel=ERROR"
	for _, tt := range []struct {
		change registry.Changed
		want   []string
	}{
		{registry.Changed{Before: before, After: after}, []string{`msg="the registry was changed" by="a\nb" token=t client=192.0.2.1 request=r name=urn:x:a version=2 before="{\"contact\":\"c\"}" after="{\"contact\":\"d\\r\\ne\"}" note="n\nlevel=ERROR"`}},
		{registry.Changed{After: before}, []string{"before={} ", `\"contact\":\"c\"`, `\"targets\":[{\"uri\":\"https://a.example/\"}]`}},
		{registry.Changed{Before: before, After: registry.Entry{Key: before.Key}}, []string{"a sandbox of the registry was purged", "after={}", "version=0"}},
	} {
		text.Reset()
		log(t.Context(), actor, []registry.Changed{tt.change})
		for _, want := range tt.want {
			if got := text.String(); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 || strings.Contains(got, "\r") {
				t.Errorf("%s\nwant %s", got, want)
			}
		}
	}
}
