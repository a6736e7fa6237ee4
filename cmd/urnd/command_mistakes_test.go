package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/cli"
)

var updateMistakes = flag.Bool("update-mistakes", false,
	"write what commands answer to mistakes into internal/cli/testdata/mistakes.txt")

// answered returns the output of a command line, with the exit status, as in a shell.
func answered(t *testing.T, line string) string {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(strings.Fields(line))
	root.SetIn(strings.NewReader("%\n"))
	root.SetOut(&out)
	root.SetErr(&out)
	cmd, err := root.ExecuteContextC(t.Context())
	if status := cli.Report(&out, cmd, err); status != 0 {
		out.WriteString("status " + string(rune('0'+status)) + "\n")
	}
	return out.String()
}

// The command answers every mistake of the table with the expected error and advice.
func TestMistakes(t *testing.T) {
	const table = "../../internal/cli/testdata/mistakes.txt"
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	for name, content := range map[string]string{
		"urnd.yaml": "registry: {store: 'sqlite:" + directory + "/registry.db'}\nlisten: {admin: 'unix:" + directory +
			"/admin.sock'}\n",
		"bad.yaml":   "dns: {timout: 5s}\n",
		"names.csv":  "name,target\nurn:example:a,https://a.example/\n",
		"titles.csv": "Nimi,Linkki\nurn:example:a,https://a.example/\n",
		"text.db":    "no database\n",
		"empty.pem":  "",
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(cli.ConfigVariable, filepath.Join(directory, "urnd.yaml"))
	if out := answered(t, "registry import "+filepath.Join(directory, "names.csv")); !strings.Contains(out, "1 new") {
		t.Fatal(out)
	}
	head, blocks, _ := strings.Cut(string(text), "\n$ ")
	written := head
	for block := range strings.SplitSeq(blocks, "\n$ ") {
		line, want, _ := strings.Cut(strings.TrimSuffix(block, "\n"), "\n")
		got := strings.ReplaceAll(answered(t, strings.ReplaceAll(line, "DIR", directory)), directory, "DIR")
		if got = strings.TrimSuffix(got, "\n"); got != want && !*updateMistakes {
			t.Errorf("urnd %s\n%s\nwant\n%s", line, got, want)
		}
		if !strings.Contains(got, "\nstatus ") {
			t.Errorf("urnd %s is accepted", line)
		}
		written += "\n$ " + line + "\n" + got
	}
	if *updateMistakes {
		if err := os.WriteFile(table, []byte(written+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
