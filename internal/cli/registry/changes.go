package registry

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
	"github.com/urnd/urnd/resolver/registry/service"
)

func newChanges(w Wiring) *cobra.Command {
	var since, until, by, below string
	var set int64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "changes",
		Short: "Print the change sets: what was changed together, by whom and why",
		Long: `Print the change sets of the registry, in their order: each import, each command and each request is one. With
--set the names that one has changed are printed, and what it changed.

A set is taken back by urnd registry revert. What was registered before there were change sets is the first one.`,
		Example: `  urnd registry changes
  urnd registry changes --since 2031-05-01 --by admin
  urnd registry changes --prefix urn:nbn:fi:
  urnd registry changes --set 1
  urnd registry changes --json`,
		Args: cobra.NoArgs,
	}
	f := addStore(cmd, w)
	flags := cmd.Flags()
	flags.StringVar(&since, "since", "", "only those from this `time` on: a date, or a time of RFC 3339")
	flags.StringVar(&until, "until", "", "only those until this `time`: a date, which means its end (UTC), or a time of RFC 3339")
	flags.StringVar(&by, "by", "", "only those of this `name`")
	flags.StringVar(&below, "prefix", "", "only those that changed names that begin with this `text`")
	flags.Int64Var(&set, "set", 0, "print what the set with this `number` has changed")
	flags.BoolVar(&asJSON, "json", false, "print a document for each set, one a line")
	cmd.MarkFlagsMutuallyExclusive("set", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		if cmd.Flags().Changed("set") {
			return usageOf(printChangesOf(cmd, s, registry.Seq(set), below))
		}
		of := service.Changes{Prefix: below, By: by}
		if since != "" {
			of.Since, err = readTime(since, false)
		}
		if until != "" && err == nil {
			of.Until, err = readTime(until, true)
		}
		if err != nil {
			return cli.Usage(err)
		}
		return usageOf(printChangeSets(cmd, s, asJSON, of))
	}
	return cmd
}

// printChangeSets prints change sets.
func printChangeSets(cmd *cobra.Command, s *session, asJSON bool, of service.Changes) error {
	for page := (service.Page{Limit: service.MaxPage}); ; {
		found, err := s.ChangeSets(cmd.Context(), s.actor, of, page)
		for _, set := range found.Sets {
			var failed error
			if asJSON {
				failed = cli.PrintJSON(cmd.OutOrStdout(), set)
			} else {
				_, failed = fmt.Fprintln(cmd.OutOrStdout(), changeSetText(set))
			}
			if failed != nil {
				return failed
			}
		}
		if page.Cursor = found.Next; err != nil || !found.More {
			return err
		}
	}
}

// changeSetText returns a change set as a line.
func changeSetText(s registry.ChangeSet) string {
	kind := s.Kind
	switch kind {
	case "":
		kind = "change"
	case registry.KindRevert:
		kind = fmt.Sprintf("revert of %d", s.Reverts)
	}
	text := fmt.Sprintf("%d, %s: %s, %s", s.Number, timeText(s.Time), kind, counted(s.Rows, "version"))
	if s.By != "" {
		text += ", by " + s.By
	}
	if s.Note != "" {
		text += ": " + s.Note
	}
	return oneLine(text)
}

// counted returns a number of things.
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// printChangesOf prints what a set has changed of the names that begin with a text.
func printChangesOf(cmd *cobra.Command, s *session, set registry.Seq, below string) error {
	var failed error
	printer := &diff.Printer{To: cmd.OutOrStdout()}
	err := s.ChangesOf(cmd.Context(), s.actor, set, below, func(c registry.Changed) bool {
		failed = printer.Changed(c)
		return failed == nil
	})
	return errors.Join(err, failed)
}
