package registry

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/rename"
)

// decisions are those of --resolve: names as they are registered, that have the name of their group.
type decisions struct {
	names  map[string]bool // whether each was found in a group that collides
	newest bool            // of all others
}

// maxDecisions bounds the names of a file of --resolve.
const maxDecisions = 1_000_000

// decisions reads those of the flags.
func (m *migrateFlags) decisions() (*decisions, error) {
	d := &decisions{names: make(map[string]bool)}
	for _, text := range m.resolve {
		file, isFile := strings.CutPrefix(text, "@")
		switch {
		case isFile:
			if err := d.read(file); err != nil {
				return nil, fmt.Errorf("--resolve %s: %w", text, err)
			}
		case text == "newest":
			d.newest = true
		default:
			d.names[text] = false
		}
	}
	return d, nil
}

// read reads names, one a line.
func (d *decisions) read(file string) error {
	f, err := os.Open(file) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name := strings.TrimSpace(lines.Text()); name != "" {
			d.names[name] = false
		}
		if len(d.names) > maxDecisions {
			return fmt.Errorf("it has more than %d names", maxDecisions)
		}
	}
	return lines.Err()
}

// of implements rename.Resolve. Where two entries of a group are named, nothing is decided.
func (d *decisions) of(g rename.Group) (key registry.Key, ok bool) {
	named := 0
	for _, e := range g.Entries {
		if _, is := d.names[e.String()]; is {
			d.names[e.String()] = true
			key = e.Key
			named++
		}
	}
	if named == 0 && d.newest {
		return rename.Newest(g)
	}
	return key, named == 1
}

// unused returns an error for names that are in no group that collides.
func (d *decisions) unused() error {
	var unused []string
	for name, found := range d.names {
		if !found {
			unused = append(unused, name)
		}
	}
	slices.Sort(unused)
	if n := len(unused); n > 0 {
		return fmt.Errorf("--resolve: %s: of what collides none is registered so, and %d more: see urnd registry migrate --dry-run --collisions; "+
			"nothing was changed", unused[0], n-1)
	}
	return nil
}

// migrationPrinter prints what happens to entries.
type migrationPrinter struct {
	w          *bufio.Writer
	table      *csv.Writer // of csv
	write      func(rename.Action) error
	collisions bool
	limit      int64
	lines      int64
}

// newMigrationPrinter returns a printer of the format of the flags.
func newMigrationPrinter(w *bufio.Writer, m *migrateFlags) (*migrationPrinter, error) {
	p := &migrationPrinter{w: w, collisions: m.collisions, limit: m.limit}
	if m.limit < 0 {
		return nil, errors.New("--limit is not negative")
	}
	switch m.format {
	case "text":
		p.write = func(a rename.Action) error { return printMigration(w, a) }
	case "csv":
		p.table = csv.NewWriter(w)
		p.write = p.row
	case "ndjson":
		p.write = func(a rename.Action) error { return cli.PrintJSON(w, documentOf(a)) }
	default:
		return nil, fmt.Errorf("%q is no format: it is text, csv or ndjson", m.format)
	}
	return p, nil
}

// print prints an action, if it is wanted.
func (p *migrationPrinter) print(a rename.Action) error {
	if p.collisions && a.What != rename.Collision && a.What != rename.Left {
		return nil
	}
	if p.lines++; p.limit > 0 && p.lines > p.limit {
		return nil
	}
	return p.write(a)
}

// left returns how many lines were not printed.
func (p *migrationPrinter) left() int64 {
	if p.limit == 0 {
		return 0
	}
	return max(p.lines-p.limit, 0)
}

func (p *migrationPrinter) end() error {
	if p.table != nil {
		p.table.Flush()
	}
	return p.w.Flush()
}

// printMigration prints an action for people.
func printMigration(w io.Writer, a rename.Action) error {
	text := fmt.Sprintf("%s\t%s", a.Key, a.What)
	if a.To.Name != "" {
		text += "\t" + a.To.String()
	}
	if a.What == rename.Collision {
		text += "\tversion " + versionOf(a.Entry)
	}
	if a.Why != "" {
		text += "\t" + a.Why
	}
	_, err := fmt.Fprintln(w, tabbed(text))
	return err
}

// tabbed is oneLine of fields that are separated by tabs.
func tabbed(text string) string {
	fields := strings.Split(text, "\t")
	for i := range fields {
		fields[i] = oneLine(fields[i])
	}
	return strings.Join(fields, "\t")
}

// migrationDocument is an action for programs.
type migrationDocument struct {
	Name      string      `json:"name"`
	Prefix    bool        `json:"prefix,omitempty"`
	What      rename.What `json:"what"`
	Canonical string      `json:"canonical,omitempty"`
	Status    string      `json:"status,omitempty"`
	Version   int         `json:"version,omitempty"`
	Changed   time.Time   `json:"changed,omitzero"`
	By        string      `json:"by,omitempty"`
	Why       string      `json:"why,omitempty"`
}

func documentOf(a rename.Action) migrationDocument {
	d := migrationDocument{
		Name: a.Name, Prefix: a.Kind == registry.KindPrefix, What: a.What, Canonical: a.To.Name, Version: a.Version, Changed: a.Changed, By: a.By, Why: a.Why,
	}
	if a.Exists() {
		d.Status = a.Status.String()
	}
	return d
}

// row prints an action as a row of CSV, the first one after the names of the columns.
func (p *migrationPrinter) row(a rename.Action) error {
	if p.lines == 1 {
		if err := p.table.Write([]string{"name", "prefix", "what", "canonical", "status", "version", "changed", "by", "why"}); err != nil {
			return err
		}
	}
	d := documentOf(a)
	changed := ""
	if a.Exists() {
		changed = d.Changed.Format(time.RFC3339Nano)
	}
	return p.table.Write([]string{
		d.Name, strconv.FormatBool(d.Prefix), string(d.What), d.Canonical, d.Status, strconv.Itoa(d.Version), changed, d.By, d.Why,
	})
}
