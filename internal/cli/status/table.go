package status

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/plaintext"
)

// shownSystems is the number of slowest systems to print.
const shownSystems = 3

// printAll prints instances. As text they are columns, with a total for several instances, and their problems
// are below; as CSV each is a row.
func printAll(w io.Writer, output *cli.Output, all []Instance) error {
	switch output.Format {
	case cli.Text:
		return printText(w, output, all)
	case cli.CSV, cli.JSON:
	}
	table, err := output.Rows(w, "address", "version", "ready", "uptime", "requests", "failed", "connections", "error")
	for _, i := range all {
		err = errors.Join(err, table.Row(i, i.Address, i.Version, strconv.FormatBool(i.Ready), count(i.Uptime),
			count(i.Requests), count(i.Errors),
			count(i.Connections), i.Error))
	}
	return err
}

func printText(w io.Writer, output *cli.Output, all []Instance) error {
	answered := slices.DeleteFunc(slices.Clone(all), func(i Instance) bool { return i.Error != "" })
	if len(answered) > 0 {
		columns := answered
		if len(answered) > 1 {
			columns = append(slices.Clone(answered), sum(answered))
		}
		cells := func(row row) []string {
			all := []string{row.title}
			for _, c := range columns {
				all = append(all, row.cell(c))
			}
			return all
		}
		rows := rowsOf(columns)
		table, err := output.Table(w, cells(rows[0])...)
		for _, row := range rows[1:] {
			err = errors.Join(err, table.Row(nil, cells(row)...))
		}
		if err := errors.Join(err, table.End()); err != nil {
			return err
		}
	}
	for _, i := range answered {
		for _, reason := range i.Unready {
			fmt.Fprintf(w, "%s is not ready: %s\n", i.Address, plaintext.OneLine(reason))
		}
		for _, reason := range i.Degraded {
			fmt.Fprintf(w, "%s is degraded: %s\n", i.Address, plaintext.OneLine(reason))
		}
		if len(i.Alone) > 0 {
			fmt.Fprintf(w,
				"%s has a shared cache, but shares %s with no other instance: none uses it, or their settings differ\n",
				i.Address, plaintext.OneLine(strings.Join(i.Alone, ", ")))
		}
	}
	return nil
}

// row is a row of the table.
type row struct {
	title string
	cell  func(Instance) string
}

// rowsOf returns the rows that have a value in some column.
func rowsOf(columns []Instance) []row {
	rows := []row{
		{"instance", func(i Instance) string { return i.Address }},
		{"version", func(i Instance) string { return i.Version }},
		{"configuration", func(i Instance) string { return i.Config }},
		{"uptime", func(i Instance) string { return (time.Duration(i.Uptime) * time.Second).String() }},
		{"ready", readyCell},
		{"requests", func(i Instance) string { return count(i.Requests) }},
		{"failed", func(i Instance) string { return count(i.Errors) + share(i.Errors, i.Requests) }},
		{"connections", func(i Instance) string { return count(i.Connections) }},
	}
	names := make(map[string]bool)
	for _, c := range columns {
		for name := range c.Caches {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, row{"cache of " + name, func(i Instance) string { return cacheCell(i.Caches, name) }})
	}
	if slices.ContainsFunc(columns, func(i Instance) bool { return i.Registry != nil }) {
		rows = append(rows, row{"registry", registryCell})
	}
	for n := range shownSystems {
		if slices.ContainsFunc(columns, func(i Instance) bool { return len(i.Systems) > n }) {
			rows = append(rows, row{
				[]string{"slowest", "", ""}[n],
				func(i Instance) string { return systemCell(i.Systems, n) },
			})
		}
	}
	return rows
}

func readyCell(i Instance) string {
	switch {
	case !i.Ready:
		return "no"
	case len(i.Degraded) > 0:
		return "yes, degraded"
	default:
		return "yes"
	}
}

func cacheCell(caches map[string]Cache, name string) string {
	c, ok := caches[name]
	if !ok {
		return "-"
	}
	text := fmt.Sprintf("%s entries, %s", count(c.Entries), humanize.IBytes(uint64(c.Bytes)))
	if c.Lookups > 0 {
		text += fmt.Sprintf(", %.1f %% hits", 100*c.Hits/c.Lookups)
	}
	return text
}

func registryCell(i Instance) string {
	switch {
	case i.Registry == nil:
		return "-"
	case !i.Registry.Available:
		return "unavailable"
	default:
		return fmt.Sprintf("%s names, %s behind", count(i.Registry.Names), count(i.Registry.Behind))
	}
}

func systemCell(systems []System, n int) string {
	if n >= len(systems) {
		return "-"
	}
	s := systems[n]
	took := time.Duration(s.Seconds * float64(time.Second)).Round(10 * time.Microsecond)
	return fmt.Sprintf("%s: %s, %s times", s.Name, took, count(s.Exchanges))
}

func count(n float64) string { return fmt.Sprintf("%.0f", n) }

// share formats part as a percentage of whole, "" if either is 0.
func share(part, whole float64) string {
	if part == 0 || whole == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.2g %%)", 100*part/whole)
}

// sum returns the totals of instances. Differing versions and configurations are marked. For the registry,
// which they may share, the worst state counts.
func sum(all []Instance) Instance {
	total := Instance{
		Address: "all", Version: all[0].Version, Config: all[0].Config, Uptime: all[0].Uptime,
		Ready: true, Caches: make(map[string]Cache),
	}
	systems := make(map[string]System)
	for _, i := range all {
		total.Version = same(total.Version, i.Version)
		total.Config = same(total.Config, i.Config)
		total.Uptime = min(total.Uptime, i.Uptime)
		total.Ready = total.Ready && i.Ready
		total.Degraded = append(total.Degraded, i.Degraded...)
		total.Requests += i.Requests
		total.Errors += i.Errors
		total.Connections += i.Connections
		for name, c := range i.Caches {
			t := total.Caches[name]
			total.Caches[name] = Cache{t.Entries + c.Entries, t.Bytes + c.Bytes, t.Lookups + c.Lookups, t.Hits + c.Hits}
		}
		total.Registry = worse(total.Registry, i.Registry)
		for _, s := range i.Systems {
			t := systems[s.Name]
			exchanges := t.Exchanges + s.Exchanges
			systems[s.Name] = System{s.Name, exchanges, (t.Seconds*t.Exchanges + s.Seconds*s.Exchanges) / exchanges}
		}
	}
	total.Systems = slices.SortedFunc(maps.Values(systems), slowest)
	return total
}

// slowest compares systems by mean response time, descending.
func slowest(a, b System) int {
	return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Name, b.Name))
}

// differing is the value of fields in which instances differ.
const differing = "differing"

func same(a, b string) string {
	if a != b {
		return differing
	}
	return a
}

// worse combines two views of the registry to the more pessimistic state.
func worse(a, b *Registry) *Registry {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	default:
		return &Registry{
			Available: a.Available && b.Available, Names: min(a.Names, b.Names),
			Behind: max(a.Behind, b.Behind),
		}
	}
}
