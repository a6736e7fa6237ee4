package registry

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

func newRewrite(w Wiring) *cobra.Command {
	var what registry.Rewrite
	var asOf int64
	cmd := &cobra.Command{
		Use:        "rewrite PREFIX --replace TEXT --with TEXT",
		SuggestFor: []string{"move", "relocate", "replace"},
		Short:      "Move the targets of all names below a prefix",
		Long: `Move the targets of all names and prefixes that begin with PREFIX, also of those that are withdrawn: where the URI of a target begins
with --replace, it begins with --with then; the rest of it stays. It is one change set, which urnd registry revert takes back.

--dry-run prints what would change, and the number of the last version that it has seen. With --as-of and that number, what
somebody else has changed after it is a conflict; without, what is changed while the command runs. Conflicts are listed, and never
overwritten; the exit status is 1 then. A rewrite that was interrupted is continued by the same command.`,
		Example: `  urnd registry rewrite urn:nbn:fi: --replace http://old.example/ --with https://new.example/ --dry-run
  urnd registry rewrite urn:nbn:fi: --replace http://old.example/ --with https://new.example/ --note 'the repository has moved'`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	differences := addDifferences(cmd)
	flags := cmd.Flags()
	flags.StringVar(&what.Replace, "replace", "", "what the URIs begin with that are moved: a `text`, with the slash that ends it")
	flags.StringVar(&what.With, "with", "", "what they begin with then: a `text`")
	flags.StringVar(&what.Note, "note", "", "why, which the history keeps: a `text`. Empty: from where to where")
	flags.Int64Var(&asOf, "as-of", 0, "the `number` of a version, as --dry-run prints it: what was changed after it is a conflict. 0: now")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := differences.check(); err != nil {
			return err
		}
		if what.Replace == "" || what.With == "" {
			return cli.Usage(errors.New("--replace and --with are required"))
		}
		p := cli.StartProgress(cmd, "moving targets")
		defer p.End()
		s, err := f.open(cmd.Context())
		if err != nil {
			return notRewritten(p, err, differences.dry, registry.Rewritten{})
		}
		defer s.close()
		what.Below, what.DryRun, what.AsOf = args[0], differences.dry, registry.Seq(asOf)
		return differences.rewrite(cmd, p, s, what)
	}
	return cmd
}

// notRewritten returns the error of a rewrite.
func notRewritten(p *cli.Progress, err error, dry bool, report registry.Rewritten) error {
	if dry {
		return p.Interrupted(err, "nothing was changed, as by any dry run; the same command begins anew")
	}
	return p.Interrupted(err, "%s were read, and the targets of %d moved, which stay; the same command continues it",
		amountOf(report.Names, "name"), report.Changed)
}

// rewrite moves targets, or prints what that would change.
func (d *differenceFlags) rewrite(cmd *cobra.Command, p *cli.Progress, s *session, what registry.Rewrite) error {
	var failed error
	printer := d.printer()
	if what.DryRun {
		what.Rewritten = func(c registry.Changed) {
			if failed == nil {
				failed = printer.Changed(c)
			}
		}
	}
	conflicts := 0
	what.Conflict = func(key registry.Key, err error) {
		if conflicts++; conflicts <= shownConflicts || d.limit == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", key, oneLine(err.Error()))
		}
	}
	what.Progress = func(now registry.Rewritten) {
		p.Show(cli.Step{What: "moving targets", Done: now.Names, Unit: "names", More: amountOf(now.Conflicts, "conflict")})
	}
	report, err := s.Rewrite(cmd.Context(), s.actor, what)
	if err = errors.Join(err, failed); err != nil {
		return usageOf(notRewritten(p, err, what.DryRun, report))
	}
	p.End()
	if what.DryRun {
		if err := printer.End(cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	fmt.Fprintln(cmd.ErrOrStderr(), rewriteText(report, what.DryRun))
	if report.Conflicts > 0 {
		return cli.ErrReported
	}
	return nil
}

// shownConflicts is how many conflicts are listed, unless all differences are.
const shownConflicts = 1000

// rewriteText says what a rewrite has done.
func rewriteText(report registry.Rewritten, dry bool) string {
	done := "moved"
	if dry {
		done = "would be moved"
	}
	text := fmt.Sprintf("%d of %d names %s", report.Changed, report.Names, done)
	if report.Conflicts > 0 {
		text += fmt.Sprintf(", and %d not: see above", report.Conflicts)
	}
	if report.Set.Number > 0 {
		text += fmt.Sprintf(", by the change set %d", report.Set.Number)
	}
	if dry {
		text += fmt.Sprintf("; as of %d", report.AsOf)
	}
	if report.Continued {
		text += "; continued, it was begun before"
	}
	return text
}
