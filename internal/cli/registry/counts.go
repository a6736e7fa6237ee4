package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

// countFlags are the flags of urnd registry stats about resolutions.
type countFlags struct {
	day, since, until string
	top               int
	prefix            *bool
}

func addCounts(cmd *cobra.Command) *countFlags {
	f := countFlags{prefix: addPrefix(cmd)}
	cmd.Flags().IntVar(&f.top, "top", 0, fmt.Sprintf("print this `number` of names, at most %d: those that people resolved most", maxTop))
	cmd.Flags().StringVar(&f.day, "day", "", "count the resolutions of this `day`, in UTC: 2031-05-01")
	cmd.Flags().StringVar(&f.since, "since", "", "count from this `day` on, in UTC")
	cmd.Flags().StringVar(&f.until, "until", "", "count up to this `day`, in UTC")
	cmd.MarkFlagsMutuallyExclusive("day", "since")
	cmd.MarkFlagsMutuallyExclusive("day", "until")
	return &f
}

// maxTop bounds --top.
const maxTop = 10_000

var (
	errCountBoth = errors.New("a name and --top exclude each other")
	errTop       = fmt.Errorf("--top is a number from 1 to %d", maxTop)
)

// wanted reports whether resolutions are to be printed, of a name, of those on top, or of all names by day.
func (f *countFlags) wanted(cmd *cobra.Command, args []string) (bool, error) {
	top := cmd.Flags().Changed("top")
	switch {
	case top && len(args) > 0:
		return false, cli.Usage(errCountBoth)
	case top && (f.top < 1 || f.top > maxTop):
		return false, cli.Usage(errTop)
	default:
		return top || len(args) > 0 || f.day+f.since+f.until != "", nil
	}
}

// days returns the first and the last day, zero times where there is no bound.
func (f *countFlags) days() (from, to time.Time, err error) {
	if f.day != "" {
		from, err = dayOf("day", f.day)
		return from, from, err
	}
	if from, err = dayOf("since", f.since); err == nil {
		to, err = dayOf("until", f.until)
	}
	return from, to, err
}

// dayOf returns the day of a flag.
func dayOf(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return at, cli.Usage(fmt.Errorf("--%s: %q is not a day, such as 2031-05-01", flag, text))
	}
	return at, nil
}

// nameCounts are the resolutions of one name, or of all together.
type nameCounts struct {
	Name    string           `json:"name,omitempty"`
	Periods []registry.Count `json:"periods"`
	Sum     registry.Tally   `json:"sum"`
}

// topCounts are the names that were resolved most, and the sum of all.
type topCounts struct {
	Names []registry.NameCount `json:"names"`
	Sum   registry.Tally       `json:"sum"`
}

// print prints the resolutions of a name, of those on top, or of all names by day.
func (f *countFlags) print(cmd *cobra.Command, s *session, args []string, asJSON bool) error {
	from, to, err := f.days()
	if err != nil {
		return err
	}
	var table interface{ print(w io.Writer) error }
	switch {
	case len(args) > 0:
		var key registry.Key
		if key, err = s.key(args[0], *f.prefix); err == nil {
			table, err = countsOf(cmd.Context(), s, key, from, to)
		}
	case f.top == 0:
		table, err = countsOf(cmd.Context(), s, registry.Name(registry.AllNames), from, to)
	default:
		var top topCounts
		top.Names, top.Sum, err = s.TopCounts(cmd.Context(), s.actor, from, to, f.top)
		if top.Names == nil {
			top.Names = []registry.NameCount{}
		}
		table = top
	}
	if err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(cmd.OutOrStdout(), table)
	}
	return table.print(cmd.OutOrStdout())
}

// countsOf returns the resolutions of a canonical name, or of registry.AllNames.
func countsOf(ctx context.Context, s *session, key registry.Key, from, to time.Time) (nameCounts, error) {
	name, periods, err := s.Counts(ctx, s.actor, key, from, to)
	n := nameCounts{Name: name, Periods: append([]registry.Count{}, periods...)}
	for _, c := range n.Periods {
		n.Sum.People += c.People
		n.Sum.Bots += c.Bots
	}
	return n, err
}

func (n nameCounts) print(w io.Writer) error {
	rows := make([]registry.NameCount, len(n.Periods))
	for i, c := range n.Periods {
		rows[i] = registry.NameCount{Name: c.Period, Tally: c.Tally}
	}
	return printTallies(w, "day", rows, n.Sum)
}

func (t topCounts) print(w io.Writer) error { return printTallies(w, "name", t.Names, t.Sum) }

// printTallies prints a table of tallies.
func printTallies(w io.Writer, of string, rows []registry.NameCount, sum registry.Tally) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "people\tbots\t  %s\n", of)
	for _, row := range append(rows, registry.NameCount{Name: "all", Tally: sum}) {
		fmt.Fprintf(table, "%d\t%d\t  %s\n", row.People, row.Bots, row.Name)
	}
	return table.Flush()
}
