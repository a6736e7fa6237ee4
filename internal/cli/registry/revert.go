package registry

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

func newRevert(w Wiring) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "revert SET --note TEXT",
		Short: "Take a change set back",
		Long: `Take a change set back, by its number, which urnd registry changes prints: what it changed becomes as it was before. A name
that it made is withdrawn, with the note as reason, since no name is unassigned. What was changed again since stays, and is
printed as a conflict. The history keeps all of it, and what was taken back is a change set, that can be taken back.

The exit status is 1 if there was a conflict.`,
		Example: `  urnd registry revert 1 --dry-run --note 'wrong file'
  urnd registry revert 1 --note 'wrong file'`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	differences := addDifferences(cmd)
	cmd.Flags().StringVar(&note, "note", "", "why: a `text`, which is also shown for names that are withdrawn by it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		number, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || number < 1 {
			return cli.Usage(fmt.Errorf("%q is not the number of a change set", args[0]))
		}
		if err := differences.check(); err != nil {
			return err
		}
		if note == "" {
			return cli.Usage(errors.New("--note is required: say why it is taken back"))
		}
		p := cli.StartProgress(cmd, "taking the change set back")
		defer p.End()
		s, err := f.open(cmd.Context())
		if err != nil {
			return notReverted(p, err, differences.dry, 0)
		}
		defer s.close()
		return differences.revert(cmd, p, s, registry.Revert{Set: registry.Seq(number), Note: note, DryRun: differences.dry})
	}
	return cmd
}

// notReverted returns the error of a revert, after some names.
func notReverted(p *cli.Progress, err error, dry bool, names int64) error {
	if dry {
		return p.Interrupted(err, "nothing was changed, as by any dry run; the same command begins anew")
	}
	return p.Interrupted(err, "%s are taken back, and stay; the same command goes on with the others", amountOf(names, "name"))
}

// revert takes a set back, and prints what that does.
func (d *differenceFlags) revert(cmd *cobra.Command, p *cli.Progress, s *session, what registry.Revert) error {
	var failed error
	printer := d.printer()
	if !what.DryRun {
		printer.Limit = 0
	}
	n := int64(0)
	what.Reverted = func(c registry.Changed) {
		n++
		p.Show(cli.Step{What: "taking the change set back", Done: n, Unit: "names"})
		if failed == nil {
			failed = printer.Changed(c)
		}
	}
	what.Conflict = func(key registry.Key, err error) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", key, oneLine(err.Error()))
	}
	report, err := s.Revert(cmd.Context(), s.actor, what)
	if err = errors.Join(err, failed); err != nil {
		return usageOf(notReverted(p, err, what.DryRun, report.Names))
	}
	p.End()
	if what.DryRun {
		if err := printer.End(cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	done := "taken back"
	if what.DryRun {
		done = "would be taken back"
	}
	text := fmt.Sprintf("%d %s", report.Names, done)
	if report.Conflicts > 0 {
		text += fmt.Sprintf(", and %d not: see above", report.Conflicts)
	}
	if report.Set.Number > 0 {
		text += fmt.Sprintf(", by the change set %d", report.Set.Number)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), text)
	if report.Conflicts > 0 {
		return cli.ErrReported
	}
	return nil
}
