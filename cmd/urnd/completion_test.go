package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Shells complete commands, flags and arguments through the hidden command that their scripts call.
func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"reg":                             "registry",
		"registry red":                    "redact",
		"registry search --status ":       "active reserved withdrawn",
		"registry search --output ":       "text csv json",
		"registry get -o ":                "text json",
		"registry token create --role ":   "reader writer admin",
		"registry token create --action ": "read change withdraw mint import purge tokens",
		"registry export --format ":       "csv tsv ndjson nginx-map naptr-zone",
		"registry import --format ":       "datacite dnb",
		"registry import --encoding ":     "utf-16le windows-1252",
		"uri compare --for ":              "naming caching",
		"uri join --profile ":             "rfc3986 draft draft-remove draft-refuse",
		"uri key --accept ":               "rfc2141 draft rfc8141",
		"namespaces show --config= ":      "isbn nbn",
		"access test 10.0.0.1 ":           "GET HEAD POST CONNECT",
		"resolve --":                      "--all --output --trace",
	} {
		out, err := run(t, "", append([]string{"__completeNoDesc"}, strings.Split(line, " ")...)...)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for word := range strings.FieldsSeq(want) {
			if !slices.Contains(strings.Fields(out), word) {
				t.Errorf("%q: %s is not offered:\n%s", line, word, out)
			}
		}
	}
}

// Every command belongs to a group, and every flag with a list of values in its help completes them.
func TestCommandsAreComplete(t *testing.T) {
	root := newRoot()
	root.InitDefaultCompletionCmd()
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			if len(cmd.Groups()) > 0 && below.GroupID == "" && !below.Hidden {
				t.Errorf("%s is in no group", below.CommandPath())
			}
			visit(below)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok &&
				(f.Name == "output" || f.Name == "format" || f.Name == "encoding") {
				t.Errorf("%s --%s completes nothing", cmd.CommandPath(), f.Name)
			}
		})
	}
	visit(root)
}
