package registry

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
)

// differenceFlags are the flags of commands that change names: whether they only print what they would change, and how.
type differenceFlags struct {
	output *cli.Output
	dry    bool
	limit  uint
}

// shownDifferences is how many names are printed where nothing is said of that.
const shownDifferences = 100

// addDifferences gives cmd the flag --dry-run, and those of differences.
func addDifferences(cmd *cobra.Command) *differenceFlags {
	d := addDifferenceForms(cmd, "one object for each name that changes, and their counts last")
	cmd.Flags().BoolVar(&d.dry, "dry-run", false, "print what would change, name by name, and change nothing")
	return d
}

// addDifferenceForms gives cmd the flags that say how differences are printed.
func addDifferenceForms(cmd *cobra.Command, json string) *differenceFlags {
	d := &differenceFlags{output: cli.AddOutput(cmd, json, cli.CSV, cli.JSON)}
	cmd.Flags().UintVar(&d.limit, "diff-limit", shownDifferences, "print the differences of at most this `number` of names; 0 is all")
	return d
}

// printer returns what prints differences: those that would be made within the limit, and those that were made as a whole.
func (d *differenceFlags) printer(s *session) *diff.Printer {
	p := &diff.Printer{To: s.out, Format: diff.Format(d.output.Format)}
	if d.output.IsJSON() {
		p.Format = diff.NDJSON
	}
	if d.dry || s.cmd.Flags().Changed("diff-limit") {
		p.Limit = int(d.limit)
	}
	return p
}

// end prints what is last of changes: their counts, where they were not made, or not all of them were printed.
func (d *differenceFlags) end(s *session, p *diff.Printer) error {
	if !d.dry && p.Counts.More == 0 {
		return nil
	}
	return p.End(s.errs)
}

// print prints changes that were made, or would be.
func (d *differenceFlags) print(s *session, changes []registry.Changed, err error) error {
	if err != nil {
		return err
	}
	p := d.printer(s)
	for _, c := range changes {
		if d.dry && c.Before.Version == c.After.Version && !c.After.Redacted {
			continue
		}
		if err := p.Changed(c); err != nil {
			return err
		}
	}
	return d.end(s, p)
}

// printed prints a stream of changes, and keeps the first error of that.
type printed struct {
	*diff.Printer
	failed error
	n      int64
}

// changed prints a change.
func (p *printed) changed(c registry.Changed) {
	p.n++
	if p.failed == nil {
		p.failed = p.Changed(c)
	}
}

// join returns the error of a command, with that of printing.
func (p *printed) join(err error) error { return errors.Join(err, p.failed) }
