package registry

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/plaintext"
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
	cli.Require(cmd, "replace", "what the URIs of targets begin with that are moved")
	cli.Require(cmd, "with", "what they begin with then")
	return f.run(existing, "moving targets", "nothing was moved", func(ctx context.Context, s *session, args []string) error {
		what.Below, what.DryRun, what.AsOf = args[0], differences.dry, registry.Seq(asOf)
		return differences.rewrite(ctx, s, what)
	})
}

// rewrite moves targets, or prints what that would change. What was moved is printed where programs read it.
func (d *differenceFlags) rewrite(ctx context.Context, s *session, what registry.Rewrite) error {
	p := &printed{Printer: d.printer(s)}
	if d.dry || d.output.Format != cli.Text {
		what.Rewritten = p.changed
	}
	conflicts := 0
	what.Conflict = func(key registry.Key, err error) {
		if conflicts++; conflicts <= shownConflicts || d.limit == 0 {
			fmt.Fprintf(s.errs, "%s: %s\n", key, plaintext.OneLine(err.Error()))
		}
	}
	what.Progress = func(now registry.Rewritten) {
		s.progress.Show(cli.Step{What: "moving targets", Done: now.Names, Unit: "names", More: amountOf(now.Conflicts, "conflict")})
	}
	report, err := s.Rewrite(ctx, s.actor, what)
	if err = p.join(err); err != nil {
		return d.interrupted(s, err, "%s were read, and the targets of %d moved, which stay; the same command continues it",
			amountOf(report.Names, "name"), report.Changed)
	}
	if err := d.end(s, p.Printer); err != nil {
		return err
	}
	var more []string
	if d.dry {
		more = append(more, fmt.Sprintf("; as of %d", report.AsOf))
	}
	if report.Continued {
		more = append(more, "; continued, it was begun before")
	}
	text := fmt.Sprintf("%d of %d names %s", report.Changed, report.Names, d.would("moved"))
	return d.concluded(s, text, report.Conflicts, report.Set, more...)
}

// shownConflicts is how many conflicts are listed, unless all differences are.
const shownConflicts = 1000
