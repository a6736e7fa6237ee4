package registry

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/clitest"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// runTokens runs urnd registry token with arguments.
func runTokens(t *testing.T, store string, args ...string) (out, errs string, err error) {
	t.Helper()
	return clitest.Run(t, Command(testWiring()), "",
		append([]string{"token", args[0], "--store", "sqlite:" + store}, args[1:]...)...)
}

func TestTokenCommands(t *testing.T) {
	store := filepath.Join(t.TempDir(), "registry.db")
	secret, errs, err := runTokens(t, store, "create", "--name", "loader", "--role", "writer", "--prefix",
		"URN:NBN:fi:", "--expires", "2132-01-01", "--note", "two\nlines")
	if err != nil || !strings.HasPrefix(secret, token.SecretPrefix) || strings.Count(secret, "\n") != 1 ||
		!strings.Contains(errs, "only now") {
		t.Fatalf("%q, %q, %v", secret, errs, err)
	}
	id := secret[len(token.SecretPrefix):][:16]
	list, _, err := runTokens(t, store, "list")
	if err != nil || strings.Count(list, "\n") != 2 || !strings.Contains(list, id+"  writer  loader") ||
		!strings.Contains(list, "2132-01-01T00:00:00Z") || strings.Contains(list, strings.TrimSpace(secret)) {
		t.Errorf("%v\n%s", err, list)
	}
	text, _, err := runTokens(t, store, "list", "--output=json")
	var listed token.Token
	if err := errors.Join(err, json.Unmarshal([]byte(text), &listed)); err != nil || listed.ID != id ||
		listed.Role != registry.Writer || listed.Prefixes[0] != "urn:nbn:fi:" {
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
