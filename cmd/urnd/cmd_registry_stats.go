package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

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

	Resolutions *resolutionStats `json:"resolutions,omitempty"` // with --days
}

func newRegistryStats() *cobra.Command {
	var asJSON bool
	var days, top int
	cmd := &cobra.Command{
		Use:   "stats [NAME]",
		Short: "Print how many names there are, and how often they were resolved",
		Long: `Print how many names there are, by namespace or scheme, and of which status. The totals are kept with
each change: they are printed at once, however many names there are. With --days also how often names were
resolved, and those that people resolved most, for which all counts are read.

With NAME print how often that name was resolved, a line for each day, or month of long ago.`,
		Example: `  urnd registry stats
  urnd registry stats --json
  urnd registry stats --days 30 --top 3
  urnd registry stats urn:nbn:fi:example-1 --days 7`,
		Args: cobra.MaximumNArgs(1),
	}
	f := addRegistry(cmd)
	cmd.Flags().IntVar(&days, "days", 0, "count the resolutions of this `number` of days, today included; of a NAME 0 is all")
	cmd.Flags().IntVar(&top, "top", topNames, "print this `number` of names that were resolved most")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON document")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if days < 0 || top < 0 {
			return usage(errors.New("--days and --top are not negative"))
		}
		r, c, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer r.Store().Close()
		if len(args) > 0 {
			return printCounts(cmd, r, args[0], days, asJSON)
		}
		stats, err := statsOf(cmd.Context(), r.Store(), c.Registry.Store)
		if err == nil && days > 0 {
			stats.Resolutions = new(resolutionStats)
			stats.Resolutions.Days = days
			stats.Resolutions.Top, stats.Resolutions.Tally, err = registry.TopCounts(cmd.Context(), r.Store(), firstDay(r, days), r.Now(), top)
		}
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(cmd.OutOrStdout(), stats)
		default:
			return stats.print(cmd.OutOrStdout())
		}
	}
	return withUsage(cmd)
}

// topNames is how many names are printed that were resolved most.
const topNames = 10

// resolutionStats is how often names were resolved.
type resolutionStats struct {
	Days int `json:"days"` // until today
	registry.Tally
	Top []registry.NameCount `json:"top"`
}

// firstDay returns the first of the days until today, the zero value for 0 days.
func firstDay(r *registry.Registry, days int) time.Time {
	if days == 0 {
		return time.Time{}
	}
	return r.Now().AddDate(0, 0, 1-days)
}

// printCounts prints how often a name was resolved.
func printCounts(cmd *cobra.Command, r *registry.Registry, name string, days int, asJSON bool) error {
	key, err := keyOf(r, name, false)
	if err != nil {
		return err
	}
	var counts []registry.Count
	err = r.Store().Read(cmd.Context(), func(tx registry.Tx) error {
		counts, err = registry.CountsOf(tx, key.Name, firstDay(r, days), r.Now())
		return err
	})
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if len(counts) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "urnd: no resolution of it was counted")
	}
	for _, c := range counts {
		if asJSON {
			err = printJSON(w, c)
		} else {
			_, err = fmt.Fprintf(w, "%s: people %d, bots %d\n", c.Period, c.People, c.Bots)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// statsOf returns the statistics of a store, which the configuration has by a name.
func statsOf(ctx context.Context, store registry.Store, name string) (registryStats, error) {
	stats := registryStats{Store: name}
	var err error
	if stats.Seq, err = store.Head(ctx); err != nil {
		return stats, err
	}
	err = store.Read(ctx, func(tx registry.Tx) error {
		stats.Groups, err = registry.TotalsOf(tx)
		return err
	})
	for _, totals := range stats.Groups {
		stats.Total = stats.Total.Plus(totals)
	}
	if path, ok := strings.CutPrefix(name, "sqlite:"); ok {
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
	if err := table.Flush(); err != nil || s.Resolutions == nil {
		return err
	}
	fmt.Fprintf(w, "\nresolutions of %d days: people %d, bots %d\n", s.Resolutions.Days, s.Resolutions.People, s.Resolutions.Bots)
	for _, n := range s.Resolutions.Top {
		fmt.Fprintf(w, "  %s: people %d, bots %d\n", n.Name, n.People, n.Bots)
	}
	return nil
}
