package registry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/service"
)

func newChanges(w Wiring) *cobra.Command {
	var of service.ChangeFilter
	var set int64
	cmd := &cobra.Command{
		Use:   "changes",
		Short: "Print the change sets, with author and reason",
		Long: `Print the change sets of the registry, in order: each import, command and request is one. With
--set the names changed by a set are printed, with their differences.

urnd registry revert reverts a set. Entries that are older than change sets are in the first one.`,
		Example: `  urnd registry changes
  urnd registry changes --since 2031-05-01 --by admin
  urnd registry changes --prefix urn:nbn:fi:
  urnd registry changes --set 1
  urnd registry changes --output csv`,
		Args: cobra.NoArgs,
	}
	f := addStore(cmd, w)
	flags := cmd.Flags()
	addTime(cmd, &of.Since, "since", "only those since this `time`: a date, or a time of RFC 3339", plaintext.ParseTime)
	addTime(cmd, &of.Until, "until",
		"only those until this `time`: a date, which means its end (UTC), or a time of RFC 3339",
		plaintext.ParseTimeEnd)
	flags.StringVar(&of.By, "by", "", "only those of this `name`")
	flags.StringVar(&of.Prefix, "prefix", "", "only those that changed names with this `prefix`")
	flags.Int64Var(&set, "set", 0, "print what the set with this `number` has changed")
	output := cli.AddOutput(cmd, "one object for each set, or with --set for each name that it has changed",
		cli.CSV, cli.JSON)
	return f.run(existing, "reading the registry", "nothing was read",
		func(ctx context.Context, s *session, _ []string) error {
			if flags.Changed("set") {
				return s.printChangesOf(ctx, &differenceFlags{output: output}, registry.Seq(set), of.Prefix)
			}
			return s.printChangeSets(ctx, output, of)
		})
}

// printChangeSets prints change sets.
func (s *session) printChangeSets(ctx context.Context, output *cli.Output, of service.ChangeFilter) error {
	table, err := output.Rows(s.out, "set", "time", "kind", "versions", "by", "note")
	if err != nil {
		return err
	}
	for page := (service.Page{Limit: service.MaxPage}); ; {
		found, err := s.ChangeSets(ctx, s.actor, of, page)
		for _, set := range found.Sets {
			cells := []string{changeSetText(set)}
			if output.Format == cli.CSV {
				cells = []string{
					strconv.FormatInt(int64(set.Number), 10), field.FormatTime(set.Time), kindOf(set),
					strconv.FormatInt(set.Rows, 10), set.By, set.Note,
				}
			}
			if err := table.Row(set, cells...); err != nil {
				return err
			}
		}
		if page.Cursor = found.Next; err != nil || !found.More {
			return err
		}
	}
}

// kindOf returns the kind of a change set.
func kindOf(s registry.ChangeSet) string {
	switch s.Kind {
	case "":
		return "change"
	case registry.KindRevert:
		return fmt.Sprintf("revert of %d", s.Reverts)
	default:
		return s.Kind
	}
}

// changeSetText formats a change set as a line.
func changeSetText(s registry.ChangeSet) string {
	text := fmt.Sprintf("%d, %s: %s, %s", s.Number, timeText(s.Time), kindOf(s), amountOf(s.Rows, "version"))
	if s.By != "" {
		text += ", by " + s.By
	}
	if s.Note != "" {
		text += ": " + s.Note
	}
	return text
}

// unknownSet adds a hint to the error of an unknown change set.
func unknownSet(err error) error {
	if errors.Is(err, registry.ErrUnknown) {
		return cli.Hint(err, "urnd registry changes prints the change sets and their numbers")
	}
	return err
}

// printChangesOf prints the changes of a set to names with a prefix.
func (s *session) printChangesOf(ctx context.Context, d *differenceFlags, set registry.Seq, below string) error {
	p := d.printer(s)
	err := s.ChangesInSet(ctx, s.actor, set, below, func(c registry.Changed) bool {
		p.Changed(c)
		return p.Err() == nil
	})
	return unknownSet(errors.Join(err, p.Err()))
}

func newRevert(w Wiring) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "revert SET --note TEXT",
		Short: "Revert a change set",
		Long: `Revert a change set, by its number, which urnd registry changes prints: the previous state of its
names is restored. A name that it created is withdrawn, with the note as reason, since no name is
unassigned. Later changes of the same names are preserved, and printed as conflicts. The history
keeps everything, and the reversal is a change set, which can be reverted, too.

The exit status is 1 if there was a conflict.`,
		Example: `  urnd registry revert 1 --dry-run --note 'wrong file'
  urnd registry revert 1 --note 'wrong file'`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	differences := addDifferences(cmd)
	cmd.Flags().StringVar(&note, "note", "", "reason: a `text`, which is also shown for names that are withdrawn by it")
	cli.Require(cmd, "note", "a reason is required")
	return f.run(existing, "reverting the change set", "nothing was reverted",
		func(ctx context.Context, s *session, args []string) error {
			number, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || number < 1 {
				return cli.Usage(fmt.Errorf("%q is not the number of a change set: urnd registry changes prints them",
					args[0]))
			}
			return differences.revert(ctx, s,
				registry.Revert{Set: registry.Seq(number), Note: note, DryRun: differences.dry})
		})
}

// revert reverts a change set, and prints the changes.
func (d *differenceFlags) revert(ctx context.Context, s *session, what registry.Revert) error {
	p := d.printer(s)
	what.Reverted = func(c registry.Changed) {
		p.Changed(c)
		s.progress.Show(cli.Step{Activity: "reverting the change set", Done: p.Counts.Names, Unit: "names"})
	}
	what.Conflict = func(key registry.Key, err error) {
		fmt.Fprintf(s.errs, "%s: %s\n", key, plaintext.OneLine(err.Error()))
	}
	report, err := s.Revert(ctx, s.actor, what)
	if err = errors.Join(err, p.Err()); err != nil {
		return d.interrupted(s, unknownSet(err), "%s are reverted; the same command continues with the others",
			amountOf(report.Names, "name"))
	}
	if err := d.end(s, p); err != nil {
		return err
	}
	return d.concluded(s, fmt.Sprintf("%d %s", report.Names, d.would("reverted")), report.Conflicts, report.Set)
}

// would returns done for a change that was made, or "would be" and done for a dry run.
func (d *differenceFlags) would(done string) string {
	if d.dry {
		return "would be " + done
	}
	return done
}

// interrupted returns the error of a command, with the state that an interruption leaves.
func (d *differenceFlags) interrupted(s *session, err error, stands string, of ...any) error {
	if d.dry {
		return s.progress.InterruptedRestart(err, "nothing was changed because of --dry-run")
	}
	return s.progress.Interrupted(err, stands, of...)
}

// concluded prints the summary of a change of many names. It returns an error if there were conflicts.
func (d *differenceFlags) concluded(
	s *session, text string, conflicts int64, set registry.ChangeSet, more ...string,
) error {
	if conflicts > 0 {
		text += fmt.Sprintf(", and %d not: see above", conflicts)
	}
	if set.Number > 0 {
		text += fmt.Sprintf(", by the change set %d", set.Number)
	}
	fmt.Fprintln(s.errs, text+strings.Join(more, ""))
	if conflicts > 0 {
		return cli.Hint(cli.ErrReported,
			"concurrent changes of others were preserved: see urnd registry history of those names")
	}
	return nil
}

func newRewrite(w Wiring) *cobra.Command {
	var what registry.Rewrite
	var asOf int64
	cmd := &cobra.Command{
		Use:        "rewrite PREFIX --replace TEXT --with TEXT",
		SuggestFor: []string{"move", "relocate", "replace"},
		Short:      "Move the targets of all names with a prefix",
		Long: `Move the targets of all names and prefixes that begin with PREFIX, including withdrawn ones: if the
URI of a target begins with the text of --replace, that text is replaced by the one of --with. The
command makes one change set, which urnd registry revert reverts.

--dry-run prints the changes, and the number of the last version that it has read. With --as-of and
that number, changes that others made after it are conflicts; without, only changes made while the
command runs. Conflicts are listed, and never overwritten; the exit status is 1 then. The same
command continues an interrupted rewrite.`,
		Example: `  urnd registry rewrite urn:nbn:fi: --replace http://old.example/ --with https://new.example/ --dry-run
  urnd registry rewrite urn:nbn:fi: --replace http://old.example/ --with https://new.example/ \
    --note 'the repository has moved'`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	differences := addDifferences(cmd)
	flags := cmd.Flags()
	flags.StringVar(&what.Replace, "replace", "",
		"prefix of the target URIs to move: a `text`, including its final slash")
	flags.StringVar(&what.With, "with", "", "replacement of the prefix: a `text`")
	flags.StringVar(&what.Note, "note", "", "reason for the history: a `text`. Empty: the old and the new prefix")
	flags.Int64Var(&asOf, "as-of", 0,
		"the `number` of a version, as --dry-run prints it: what was changed after it is a conflict. 0: now")
	cli.Require(cmd, "replace", "the prefix of the target URIs to move")
	cli.Require(cmd, "with", "the replacement of the prefix")
	return f.run(existing, "moving targets", "nothing was moved",
		func(ctx context.Context, s *session, args []string) error {
			what.Prefix, what.DryRun, what.AsOf = args[0], differences.dry, registry.Seq(asOf)
			return differences.rewrite(ctx, s, what)
		})
}

// rewrite rewrites targets, or prints the changes that it would make. Changes are also printed for CSV and
// JSON output.
func (d *differenceFlags) rewrite(ctx context.Context, s *session, what registry.Rewrite) error {
	p := d.printer(s)
	if d.dry || d.output.Format != cli.Text {
		what.Rewritten = p.Changed
	}
	conflicts := 0
	what.Conflict = func(key registry.Key, err error) {
		if conflicts++; conflicts <= shownConflicts || d.limit == 0 {
			fmt.Fprintf(s.errs, "%s: %s\n", key, plaintext.OneLine(err.Error()))
		}
	}
	what.Progress = func(now registry.RewriteResult) {
		s.progress.Show(cli.Step{
			Activity: "moving targets", Done: now.Names, Unit: "names",
			More: amountOf(now.Conflicts, "conflict"),
		})
	}
	report, err := s.Rewrite(ctx, s.actor, what)
	if err = errors.Join(err, p.Err()); err != nil {
		return d.interrupted(s, err, "%s were read, and the targets of %d moved; the same command continues",
			amountOf(report.Names, "name"), report.Changed)
	}
	if err := d.end(s, p); err != nil {
		return err
	}
	var more []string
	if d.dry {
		more = append(more, fmt.Sprintf("; as of %d", report.AsOf))
	}
	if report.Continued {
		more = append(more, "; continued from an earlier run")
	}
	text := fmt.Sprintf("%d of %d names %s", report.Changed, report.Names, d.would("moved"))
	return d.concluded(s, text, report.Conflicts, report.Set, more...)
}

// shownConflicts bounds the listed conflicts, unless the differences are unlimited.
const shownConflicts = 1000

// differenceFlags are the flags --dry-run, --output and --diff-limit of commands that change names.
type differenceFlags struct {
	output *cli.Output
	dry    bool
	limit  uint
}

// shownDifferences is the default of --diff-limit.
const shownDifferences = 100

// addDifferences adds --dry-run and the flags of addDifferenceForms to cmd.
func addDifferences(cmd *cobra.Command) *differenceFlags {
	d := addDifferenceForms(cmd, "one object for each name that changes, and their counts last")
	cmd.Flags().BoolVar(&d.dry, "dry-run", false, "print what would change, name by name, and change nothing")
	return d
}

// addDifferenceForms adds the flags for the output of differences to cmd.
func addDifferenceForms(cmd *cobra.Command, json string) *differenceFlags {
	d := &differenceFlags{output: cli.AddOutput(cmd, json, cli.CSV, cli.JSON)}
	cmd.Flags().UintVar(&d.limit, "diff-limit", shownDifferences,
		"print the differences of at most this `number` of names; 0 is all")
	return d
}

// printer returns a printer of differences. Those of a dry run are limited, changes that were made are
// printed completely unless --diff-limit is given.
func (d *differenceFlags) printer(s *session) *diff.Printer {
	p := &diff.Printer{Out: s.out, Format: diff.Format(d.output.Format)}
	if d.output.IsJSON() {
		p.Format = diff.NDJSON
	}
	if d.dry || s.cmd.Flags().Changed("diff-limit") {
		p.Limit = int(d.limit)
	}
	return p
}

// end prints the counts of differences, for a dry run, or if not all of them were printed.
func (d *differenceFlags) end(s *session, p *diff.Printer) error {
	if !d.dry && p.Counts.More == 0 {
		return p.Err()
	}
	return p.End(s.errs)
}

// print prints changes that were made, or would be made.
func (d *differenceFlags) print(s *session, changes []registry.Changed, err error) error {
	if err != nil {
		return err
	}
	p := d.printer(s)
	for _, c := range changes {
		if !d.dry || c.Before.Version != c.After.Version || c.After.Redacted {
			p.Changed(c)
		}
	}
	return d.end(s, p)
}
