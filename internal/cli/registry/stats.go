package registry

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

// registryStats is what urnd registry stats prints.
type registryStats struct {
	Store string       `json:"store"`
	Seq   registry.Seq `json:"seq"` // of the last version
	// Size is that of the file in bytes, with what is not merged into it yet; 0 if there is none.
	Size   int64                      `json:"size,omitempty"`
	Groups map[string]registry.Totals `json:"groups"` // by namespace or scheme
	Total  registry.Totals            `json:"total"`
}

func newStats(w Wiring) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats [NAME]",
		Short: "Print how many names there are, or how often they were resolved",
		Long: `Print how many names there are, by namespace or scheme, and of which status. The totals are kept with
each change: they are printed at once, however many names there are.

With NAME, print how often it was resolved each day in UTC, by people and by bots, with days alone (--since) how
often all names together were, and with --top which names were resolved most. A running urnd writes its counts
each minute. Resolutions by an alias are counted for the name that it leads to, those of names below a prefix
that are not registered themselves for the prefix (--prefix). Days of more than 13 months before the current one
are added up to months. Where there was no room for more names, others are counted as "other".`,
		Example: `  urnd registry stats
  urnd registry stats --json
  urnd registry stats urn:nbn:fi:lib-1 --since 2031-05-01
  urnd registry stats --since 2031-05-01
  urnd registry stats --top 10 --day 2031-05-01`,
		Args: cobra.MaximumNArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON document")
	counts := addCounts(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		counted, err := counts.wanted(cmd, args)
		if err != nil {
			return err
		}
		s, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		if counted {
			return counts.print(cmd, s, args, asJSON)
		}
		stats, err := statsOf(cmd.Context(), s)
		if err != nil {
			return err
		}
		if asJSON {
			return cli.PrintJSON(cmd.OutOrStdout(), stats)
		}
		return stats.print(cmd.OutOrStdout())
	}
	return cmd
}

// statsOf returns the statistics of a registry.
func statsOf(ctx context.Context, s *session) (registryStats, error) {
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

func (s registryStats) print(w io.Writer) error {
	fmt.Fprintf(w, "store: %s", s.Store)
	if s.Size > 0 {
		fmt.Fprintf(w, ", %d bytes", s.Size)
	}
	fmt.Fprintf(w, "\nversions: the last one has the number %d\n\n", s.Seq)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "active\treserved\twithdrawn\taliases\ttargets\tprefixes\t  below")
	row := func(of string, t registry.Totals) {
		fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%d\t%d\t  %s\n", t.Active, t.Reserved, t.Withdrawn, t.Aliases, t.Targets, t.Prefixes, of)
	}
	for _, group := range slices.Sorted(maps.Keys(s.Groups)) {
		row(group+":", s.Groups[group])
	}
	row("all", s.Total)
	return table.Flush()
}
