package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/cli"
)

// run runs urnd in this process.
func run(t *testing.T, stdin string, args ...string) (stdout string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errOut)
	err = root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestResolveCommand(t *testing.T) {
	got, err := run(t, "", "resolve", "--output=json", "URN:ietf:rfc:2648")
	if err != nil || !strings.HasPrefix(got,
		`{"input":"URN:ietf:rfc:2648","canonical":"urn:ietf:rfc:2648","service":"I2L","locations":[{"uri":"https://www.rfc-editor.org/info/rfc2648"`) {
		t.Errorf("%s, %v", got, err)
	}
	both := "https://openlibrary.org/isbn/0395363411\nhttps://search.worldcat.org/isbn/0395363411\n"
	for _, args := range [][]string{
		{"resolve", "--all", "urn:isbn:0-395-36341-1"},
		{"resolve", "urn:isbn:0-395-36341-1?s=I2Ls"},
	} {
		if got, err := run(t, "", args...); err != nil || got != both {
			t.Errorf("%q: %q, %v", args, got, err)
		}
	}
	got, err = run(t, "", "resolve", "urn:uuid:f81d4fae", "urn:ietf:rfc:1")
	if !errors.Is(err, cli.ErrReported) || got != "https://www.rfc-editor.org/info/rfc1\n" {
		t.Errorf("one bad name of two: %q, %v", got, err)
	}
}

func TestConfigCheck(t *testing.T) {
	if _, err := run(t, "", "config", "check", "testdata/bad.yaml"); err == nil ||
		!strings.Contains(err.Error(), "listen.service.0: ") ||
		!strings.Contains(err.Error(), "namespaces.0.targets.0.template: ") {
		t.Errorf("%v", err)
	}
	t.Setenv("URND_LIMITS_MEMORY", "1199MiB")
	if _, err := run(t, "", "config", "check", "../../config/example.yaml"); err == nil ||
		!strings.Contains(err.Error(),
			"limits.memory: 1199MiB is less than 1200MiB, the sum of what the settings allow: ") {
		t.Errorf("more than the memory: %v", err)
	}
	t.Setenv("URND_LIMITS_MEMORY", "1200MiB")
	if got, err := run(t, "", "config", "check", "../../config/example.yaml"); err != nil ||
		!strings.Contains(got, "is a valid configuration") {
		t.Errorf("%s, %v", got, err)
	}
	t.Setenv(cli.ConfigVariable, "../../config/example.yaml")
	if got, err := run(t, "", "config", "check"); err != nil ||
		!strings.Contains(got, "../../config/example.yaml is a valid configuration") {
		t.Errorf("the file of the environment: %s, %v", got, err)
	}
	t.Setenv(cli.ConfigVariable, "")
	if _, err := run(t, "", "config", "check"); cli.StatusOf(err) != cli.StatusUsage {
		t.Errorf("without a file: %v", err)
	}
}

// A mistyped command must be an error.
func TestUnknownCommands(t *testing.T) {
	for _, args := range [][]string{
		{"config", "chekc", "x.yaml"},
		{"uri", "nosuch"},
		{"nosuch"},
		{"uri", "join", "http://a/"},
		{"uri", "compare", "http://a/"},
	} {
		if out, err := run(t, "", args...); err == nil {
			t.Errorf("urnd %q succeeds: %s", args, out)
		}
	}
}

func TestServeRefusesBadFlags(t *testing.T) {
	if _, err := run(t, "", "serve", "--listen", "nowhere", "--dns", "ns.example.org"); err == nil ||
		!strings.Contains(err.Error(), "listen.service.0: ") || !strings.Contains(err.Error(), "dns.servers.0: ") {
		t.Errorf("%v", err)
	}
}

// A command that only resolves names does not need the secrets of the service and of the administration.
func TestResolveNeedsNoSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	text := "access: {admin_token: 'credential:admin-token', proxy_users: 'credential:proxy-users'}\n" +
		"listen: {tls: '127.0.0.1:0'}\ntls: {certificate: 'credential:certificate', key: 'credential:key'}\n" +
		"log: {access: [{file: /nowhere/access}]}\nddds: {enabled: false}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs([]string{"resolve", "--config", path, "urn:ietf:rfc:2648"})
	if err := root.ExecuteContext(t.Context()); err != nil ||
		out.String() != "https://www.rfc-editor.org/info/rfc2648\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}
