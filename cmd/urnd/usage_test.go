package main

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/cli"
)

// Usage errors exit with 2, failures with 1: EXIT STATUS in urnd(1).
func TestExitStatus(t *testing.T) {
	for command, want := range map[string]int{
		"bogus": 2, "--bogus": 2, "serve --bogus": 2, "serve more": 2, "resolve --bogus": 2, "uri bogus": 2,
		"uri parse --bogus": 2, "namespaces --bogus": 2, "config bogus": 2, "config check": 2, "config check a b": 2,
		"config show more": 2, "helper bogus": 2, "cache bogus": 2, "cache --bogus": 2, "registry bogus": 2,
		"registry get": 2, "registry token bogus": 2, "access test": 2, "access bogus": 2, "version more": 2,
		"config check /nowhere.yaml": 1, "uri parse %": 1,
		"registry get --store sqlite:/nowhere urn:a1:b": 1,
	} {
		if _, err := run(t, "", strings.Fields(command)...); err == nil || cli.StatusOf(err) != want {
			t.Errorf("urnd %s: %d, %v", command, cli.StatusOf(err), err)
		}
	}
	if _, err := run(t, "", "regstry"); err == nil || !strings.Contains(err.Error(), "did you mean registry?") {
		t.Error(err)
	}
	if _, err := run(t, "", "help"); err != nil {
		t.Error(err)
	}
}

func TestUnknownSubcommand(t *testing.T) {
	for _, line := range []string{"registry gett", "registry token make", "uri pars"} {
		root := newRoot()
		root.SetArgs(strings.Fields(line))
		if err := root.ExecuteContext(t.Context()); cli.StatusOf(err) != cli.StatusUsage ||
			!strings.Contains(err.Error(), "unknown command") {
			t.Errorf("%s: %v", line, err)
		}
	}
}
