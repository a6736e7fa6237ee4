package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry"
)

// registryStats is the output of urnd registry stats.
type registryStats struct {
	Store string       `json:"store"`
	Seq   registry.Seq `json:"seq"` // of the last version
	// Size is the size of the database file in bytes, including its write-ahead log; 0 without a file.
	Size   int64                      `json:"size,omitempty"`
	Groups map[string]registry.Totals `json:"groups"` // by namespace or scheme
	Total  registry.Totals            `json:"total"`
}

func newStats(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats [NAME]",
		Short: "Print the number of names, or of their resolutions",
		Long: `Print the number of names by namespace or scheme, and by status. The totals are stored, so that the
command takes no longer for more names.

With NAME, print how often it was resolved each day (UTC), by people and by bots; with only
--since, --until or --day, how often all names together were; with --top, the names that were
resolved most. A running urnd writes its counts each minute. Resolutions by an alias count for its
target name, those of unregistered names below a prefix for the prefix (--prefix). Days more than
13 months before the current one are summed by month. Names beyond the limit of counted names are
counted as "other".`,
		Example: `  urnd registry stats
  urnd registry stats --output json
  urnd registry stats urn:nbn:fi:lib-1 --since 2031-05-01
  urnd registry stats --since 2031-05-01
  urnd registry stats --top 10 --day 2031-05-01`,
		Args: cobra.MaximumNArgs(1),
	}
	f := addStore(cmd, w)
	output := cli.AddOutput(cmd, "one document", cli.CSV, cli.JSON)
	counts := addCounts(cmd, output)
	return f.run(existing, "reading the registry", "nothing was read",
		func(ctx context.Context, s *session, args []string) error {
			if counts.wanted(cmd, args) {
				return counts.print(ctx, s, args)
			}
			stats, err := s.stats(ctx)
			if err != nil {
				return err
			}
			return output.Document(s.out, stats, func(w io.Writer) error { return stats.print(w, output) })
		})
}

// stats returns the statistics of a registry.
func (s *session) stats(ctx context.Context) (registryStats, error) {
	name := s.config.Registry.Store
	totals, err := s.Totals(ctx, s.actor, registry.Search{})
	stats := registryStats{Store: name, Seq: totals.Seq, Groups: totals.Groups, Total: totals.Total}
	if path, ok := cli.StoreFile(name); ok {
		for _, file := range []string{path, path + "-wal"} {
			if info, err := os.Stat(file); err == nil {
				stats.Size += info.Size()
			}
		}
	}
	return stats, err
}

func (s registryStats) print(w io.Writer, output *cli.Output) error {
	if output.Format == cli.Text {
		fmt.Fprintf(w, "store: %s", s.Store)
		if s.Size > 0 {
			fmt.Fprintf(w, ", %d bytes", s.Size)
		}
		fmt.Fprintf(w, "\nversions: the last one has the number %d\n\n", s.Seq)
	}
	table, err := output.Numbers(w, "active", "reserved", "withdrawn", "aliases", "targets", "prefixes", "below")
	row := func(of string, t registry.Totals) {
		var cells []string
		for _, n := range []int64{t.Active, t.Reserved, t.Withdrawn, t.Aliases, t.Targets, t.Prefixes} {
			cells = append(cells, strconv.FormatInt(n, 10))
		}
		err = errors.Join(err, table.Row(t, append(cells, of)...))
	}
	for _, group := range slices.Sorted(maps.Keys(s.Groups)) {
		row(group+":", s.Groups[group])
	}
	row("all", s.Total)
	return errors.Join(err, table.End())
}

// countFlags are the flags of urnd registry stats about resolutions.
type countFlags struct {
	day, since, until time.Time
	top               uint
	prefix            *bool
	output            *cli.Output
}

func addCounts(cmd *cobra.Command, output *cli.Output) *countFlags {
	f := countFlags{prefix: addPrefix(cmd), output: output}
	cmd.Flags().UintVar(&f.top, "top", 0,
		fmt.Sprintf("print this `number` of names, at most %d: those that people resolved most", maxTop))
	addTime(cmd, &f.day, "day", "count the resolutions of this `day`, in UTC: 2031-05-01", plaintext.ParseDay)
	addTime(cmd, &f.since, "since", "count from this `day` on, in UTC", plaintext.ParseDay)
	addTime(cmd, &f.until, "until", "count up to this `day`, in UTC", plaintext.ParseDay)
	cli.Exclude(cmd, "day", "since")
	cli.Exclude(cmd, "day", "until")
	cli.AddCheck(cmd, func(args []string) error {
		switch top := cmd.Flags().Changed("top"); {
		case top && len(args) > 0:
			return errCountBoth
		case top && (f.top < 1 || f.top > maxTop):
			return errTop
		}
		if !f.day.IsZero() {
			f.since, f.until = f.day, f.day
		}
		return nil
	})
	return &f
}

// maxTop bounds --top.
const maxTop = 10_000

var (
	errCountBoth = errors.New("a name and --top are mutually exclusive: --top covers all names")
	errTop       = fmt.Errorf("--top must be a number from 1 to %d", maxTop)
)

// wanted reports whether to print resolutions: of a name, of the top names, or of all names by day.
func (f *countFlags) wanted(cmd *cobra.Command, args []string) bool {
	return len(args) > 0 || slices.ContainsFunc([]string{"top", "day", "since", "until"}, cmd.Flags().Changed)
}

// nameCounts are the resolutions of one name, or of all names.
type nameCounts struct {
	Name    string           `json:"name,omitempty"`
	Periods []registry.Count `json:"periods"`
	Sum     registry.Tally   `json:"sum"`
}

// topCounts are the names that were resolved most, and the sum of all names.
type topCounts struct {
	Names []registry.NameCount `json:"names"`
	Sum   registry.Tally       `json:"sum"`
}

// print prints the resolutions of a name, of the top names, or of all names by day.
func (f *countFlags) print(ctx context.Context, s *session, args []string) error {
	if f.top > 0 {
		names, sum, err := s.TopCounts(ctx, s.actor, f.since, f.until, int(f.top))
		if err != nil {
			return err
		}
		return f.tallies(s, topCounts{append([]registry.NameCount{}, names...), sum}, "name", names, sum)
	}
	key := registry.Name(registry.AllNames)
	if len(args) > 0 {
		var err error
		if key, err = s.key(args[0], *f.prefix); err != nil {
			return err
		}
	}
	n, err := countsOf(ctx, s, key, f.since, f.until)
	if err != nil {
		return err
	}
	rows := make([]registry.NameCount, len(n.Periods))
	for i, c := range n.Periods {
		rows[i] = registry.NameCount{Name: c.Period, Tally: c.Tally}
	}
	return f.tallies(s, n, "day", rows, n.Sum)
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

// tallies prints a document of tallies, or a table.
func (f *countFlags) tallies(s *session, document any, of string, rows []registry.NameCount, sum registry.Tally) error {
	return f.output.Document(s.out, document, func(w io.Writer) error {
		table, err := f.output.Numbers(w, "people", "bots", of)
		for _, row := range append(rows, registry.NameCount{Name: "all", Tally: sum}) {
			err = errors.Join(err, table.Row(row, strconv.FormatInt(row.People, 10),
				strconv.FormatInt(row.Bots, 10), row.Name))
		}
		return errors.Join(err, table.End())
	})
}
