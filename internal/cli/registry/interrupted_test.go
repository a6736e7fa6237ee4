package registry

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

// Every long command that is interrupted, before or after opening the store, describes the state and how to
// continue.
func TestInterruptedCommands(t *testing.T) {
	r := someNames(t)
	dir := t.TempDir()
	backup, made := filepath.Join(dir, "backup.db"), filepath.Join(dir, "made")
	names := filepath.Join(dir, "names.csv")
	if err := os.WriteFile(names, []byte("name,target\nurn:nbn:fi:c,https://example.org/c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("backup " + backup)
	before, _, _ := r.run("", "export", "--history")
	const again = "; the same command starts over"
	for _, tt := range []struct{ args, stands, before string }{
		{"backup " + made, "no backup was made, and an existing " + made + " is unchanged" + again, ""},
		{"verify", "0 problems were found so far, and nothing was changed" + again, ""},
		{"verify " + backup, "0 problems were found so far, and nothing was changed" + again, ""},
		{"restore " + backup, "nothing was restored, and the registry is unchanged" + again, ""},
		{"check", "nothing was checked" + again, ""},
		{"check --hints", "nothing was checked" + again, ""},
		{"export", "the output is incomplete" + again, ""},
		{"export " + made, "no export was made, and an existing " + made + " is unchanged" + again, ""},
		{"import " + names, "0 names were written; the same command continues", "nothing was imported" + again},
		{
			"import --dry-run " + names, "nothing of " + names + " was imported, because of --dry-run" + again,
			"nothing was imported" + again,
		},
		{"health", "", ""},
		{
			"rewrite urn: --replace https://old.example/ --with https://new.example/",
			"0 names were read, and the targets of 0 moved; the same command continues", "nothing was moved" + again,
		},
		{
			"rewrite urn: --replace https://old.example/ --with https://new.example/ --dry-run",
			"nothing was changed because of --dry-run" + again, "nothing was moved" + again,
		},
		{
			"revert 1 --note x", "0 names are reverted; the same command continues with the others",
			"nothing was reverted" + again,
		},
		{
			"revert 1 --note x --dry-run", "nothing was changed because of --dry-run" + again,
			"nothing was reverted" + again,
		},
		{"purge urn:nbn:fi:test: --yes", "", ""},
		{"mint -n 10000 urn:nbn:fi:m-{counter}", "no name was reserved" + again, ""},
		{
			"mint --dry-run urn:nbn:fi:m-{counter}", "no name was reserved, because of --dry-run" + again,
			"no name was reserved" + again,
		},
		{"search example", "", ""},
	} {
		for _, within := range []bool{false, true} {
			if first := strings.Fields(tt.args)[0]; within &&
				(strings.HasSuffix(tt.args, backup) || first == "backup") {
				continue // it opens files itself
			}
			ctx, interrupt := context.WithCancel(t.Context())
			w := testWiring()
			open := w.Open
			w.Open = func(ctx context.Context, c config.Registry) (registry.Store, error) {
				s, err := open(ctx, c)
				interrupt()
				return s, err
			}
			if !within {
				interrupt()
			}
			root := &cobra.Command{Use: "urnd", SilenceErrors: true, SilenceUsage: true}
			root.AddCommand(Command(w))
			root.SetArgs(append(append([]string{"registry"}, strings.Fields(tt.args)...), "--config=",
				"--store="+r.store))
			var out, messages strings.Builder
			root.SetOut(&out)
			root.SetErr(&messages)
			err := root.ExecuteContext(ctx)
			interrupt()
			stands := tt.stands
			if !within {
				stands = cmp.Or(tt.before, stands)
			}
			if err == nil || !strings.Contains(err.Error(), "interrupted: "+stands) || cli.StatusOf(err) != 1 {
				t.Errorf("%s, within %v: %v, want %q", tt.args, within, err, stands)
			}
			if _, err := os.Stat(made); err == nil {
				t.Errorf("%s has made a file", tt.args)
			}
		}
	}
	if after, _, _ := r.run("", "export", "--history"); after != before {
		t.Errorf("the registry is\n%s\nand was\n%s", after, before)
	}
}
