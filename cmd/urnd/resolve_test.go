package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/cli"
)

// Each line of standard input has one line of output, in the same order.
func TestResolveLines(t *testing.T) {
	var in, want strings.Builder
	for i := range 500 {
		if i%100 == 7 {
			in.WriteString("no name\n")
			want.WriteString("error: ")
		} else {
			fmt.Fprintf(&in, "urn:ietf:rfc:%d\r\n", i+1)
			fmt.Fprintf(&want, "https://www.rfc-editor.org/info/rfc%d", i+1)
		}
		want.WriteString("\n")
	}
	out, err := run(t, in.String(), "resolve", "-")
	if !errors.Is(err, cli.ErrReported) {
		t.Errorf("some fail: %v", err)
	}
	got, wanted := strings.Split(out, "\n"), strings.Split(want.String(), "\n")
	if len(got) != len(wanted) {
		t.Fatalf("%d lines, want %d", len(got), len(wanted))
	}
	for i, line := range wanted {
		if !strings.HasPrefix(got[i], line) {
			t.Errorf("line %d: %q, want %q", i, got[i], line)
		}
	}
	if out, err := run(t, "urn:ietf:rfc:1\n\n", "resolve", "--json", "-"); !errors.Is(err, cli.ErrReported) || strings.Count(out,
		"\n") != 2 || !strings.Contains(out, `"error":{"message"`) {
		t.Errorf("as JSON: %q, %v", out, err)
	}
	if out, err := run(t, "urn:isbn:0-395-36341-1\n", "resolve", "--all", "-"); err != nil || strings.Count(out, "\t") != 1 {
		t.Errorf("all locations: %q, %v", out, err)
	}
	for text, want := range map[string]string{
		"0-395-36341-1":           "https://openlibrary.org/isbn/0395363411\n",
		"\ufeff<urn:ietf:rfc:2> ": "https://www.rfc-editor.org/info/rfc2\n", "doi:10.1000/182": "https://doi.org/10.1000/182\n",
	} {
		if out, err := run(t, "", "resolve", text); err != nil || out != want {
			t.Errorf("%q: %q, %v", text, out, err)
		}
	}
	if _, err := run(t, "", "resolve", "--trace", "-"); err == nil || !strings.Contains(err.Error(), "add --json") {
		t.Errorf("a trace of lines: %v", err)
	}
}

// urnd resolve says why the registry cannot be asked, and makes none.
func TestResolveWithoutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	t.Setenv("URND_REGISTRY_STORE", "sqlite:"+path)
	var errs bytes.Buffer
	root := newRoot()
	root.SetArgs([]string{"resolve", "--config=", "urn:nbn:fi:a"})
	root.SetErr(&errs)
	if err := root.ExecuteContext(t.Context()); cli.StatusOf(err) != 1 {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); err == nil || !strings.Contains(errs.String(), "there is no file "+path) {
		t.Errorf("%v %s", err, errs.String())
	}
}

// A configuration with secrets of the service and of the administration does not stop a
// command that only resolves.
func TestResolveNeedsNoSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	text := "access: {admin_token: 'credential:admin-token', proxy_users: 'credential:proxy-users'}\n" +
		"listen: {tls: '127.0.0.1:0'}\ntls: {certificate: 'credential:certificate', key: 'credential:key'}\n" +
		"log: {access: json, access_file: /nowhere/access}\nddds: {enabled: false}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs([]string{"resolve", "--config", path, "urn:ietf:rfc:2648"})
	if err := root.ExecuteContext(t.Context()); err != nil || out.String() != "https://www.rfc-editor.org/info/rfc2648\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}
