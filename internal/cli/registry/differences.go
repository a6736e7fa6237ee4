package registry

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
)

// differenceFlags are the flags of commands that change many names: whether they only print what they would change, and how.
type differenceFlags struct {
	cmd    *cobra.Command
	dry    bool
	format string
	limit  int
	form   diff.Format
}

// shownDifferences is how many names are printed where nothing is said of that.
const shownDifferences = 100

// addDifferences gives cmd the flag --dry-run, and those of differences.
func addDifferences(cmd *cobra.Command) *differenceFlags {
	d := addDifferenceForms(cmd)
	cmd.Flags().BoolVar(&d.dry, "dry-run", false, "print what would change, name by name, and change nothing")
	return d
}

// addDifferenceForms gives cmd the flags that say how differences are printed.
func addDifferenceForms(cmd *cobra.Command) *differenceFlags {
	d := &differenceFlags{cmd: cmd}
	cmd.Flags().StringVar(&d.format, "diff", "", "print differences in this `form`: text, csv or ndjson. Empty: text")
	cmd.Flags().IntVar(&d.limit, "diff-limit", shownDifferences, "print the differences of at most this `number` of names; 0 is all")
	return d
}

// check returns what is wrong with the flags.
func (d *differenceFlags) check() (err error) {
	changed := d.cmd.Flags().Changed
	has := d.cmd.Flags().Lookup("dry-run") != nil
	switch {
	case d.limit < 0:
		return cli.Usage(errors.New("--diff-limit is not negative"))
	case has && !d.dry && (changed("diff") || changed("diff-limit")):
		return cli.Usage(errors.New("--diff and --diff-limit are for --dry-run"))
	}
	if d.form, err = diff.ParseFormat(d.format); err != nil {
		return cli.Usage(fmt.Errorf("--diff: %w", err))
	}
	return nil
}

// printer returns what prints differences.
func (d *differenceFlags) printer() *diff.Printer {
	return &diff.Printer{To: d.cmd.OutOrStdout(), Format: d.form, Limit: d.limit}
}

// print prints changes that would be made.
func (d *differenceFlags) print(cmd *cobra.Command, changes []registry.Changed) error {
	p := d.printer()
	for _, c := range changes {
		if err := p.Changed(c); err != nil {
			return err
		}
	}
	return p.End(cmd.ErrOrStderr())
}
