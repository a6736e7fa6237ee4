package diff

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// Format is an output format of differences.
type Format string

// The formats.
const (
	Text   Format = "text"
	CSV    Format = "csv"
	NDJSON Format = "ndjson"
)

// Counts count the names that differ.
type Counts struct {
	Names     int64 `json:"names"`
	Added     int64 `json:"added"`
	Changed   int64 `json:"changed"`
	Withdrawn int64 `json:"withdrawn"`
	Redacted  int64 `json:"redacted"`
	Removed   int64 `json:"removed"`
	// More is the number of differing names that were not printed.
	More int64 `json:"more"`
}

// Add counts a change.
func (c *Counts) Add(kind Kind) {
	c.Names++
	switch kind {
	case Added:
		c.Added++
	case Changed:
		c.Changed++
	case Withdrawn:
		c.Withdrawn++
	case Redacted:
		c.Redacted++
	case Removed:
		c.Removed++
	}
}

// String returns the counts in one line, without zero counts.
func (c Counts) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d names differ", c.Names)
	if c.Names == 1 {
		b.Reset()
		b.WriteString("1 name differs")
	}
	separator := ": "
	for _, n := range []struct {
		n    int64
		what string
	}{
		{c.Added, "added"},
		{c.Changed, "changed"},
		{c.Withdrawn, "withdrawn"},
		{c.Redacted, "redacted"},
		{c.Removed, "removed"},
	} {
		if n.n > 0 {
			fmt.Fprintf(&b, "%s%d %s", separator, n.n, n.what)
			separator = ", "
		}
	}
	if c.More > 0 {
		fmt.Fprintf(&b, "; %d more than are printed", c.More)
	}
	return b.String()
}

// Printer prints differences name by name, until a write fails. It is not safe for concurrent use.
type Printer struct {
	Out    io.Writer
	Format Format // "" is Text
	Limit  int    // maximum number of printed names; 0 is unlimited
	// Comparing means that two registries are compared, so that versions are not comparable.
	Comparing bool
	Counts    Counts // so far

	table  *tabular.Writer
	failed error
}

// Err returns the first write error; later differences were only counted.
func (p *Printer) Err() error { return p.failed }

// Changed prints a change.
func (p *Printer) Changed(c registry.Changed) {
	change := Of(c)
	if p.Comparing {
		change.Before, change.After = 0, 0 // version numbers are valid within one registry only
	}
	p.Print(change)
}

// Print prints a change, or only counts it beyond the limit.
func (p *Printer) Print(c Change) {
	p.Counts.Add(c.Change)
	switch {
	case p.Limit > 0 && p.Counts.Names > int64(p.Limit):
		p.Counts.More++
	case p.failed != nil:
	case p.Format == CSV:
		p.failed = p.row(&c)
	case p.Format == NDJSON:
		p.failed = p.json(c)
	default:
		p.failed = p.text(&c)
	}
}

func (p *Printer) json(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func (p *Printer) text(c *Change) error {
	var b strings.Builder
	if p.Comparing {
		fmt.Fprintln(&b, plaintext.OneLine(c.comparison()))
	} else {
		fmt.Fprintln(&b, plaintext.OneLine(c.heading()))
	}
	b.WriteString(c.Text())
	_, err := io.WriteString(p.Out, b.String())
	return err
}

// Text returns a line for each difference.
func (c *Change) Text() string {
	var b strings.Builder
	for _, d := range c.Differences {
		switch {
		case d.Before == "":
			fmt.Fprintf(&b, "  + %s %s\n", d.Field, plaintext.OneLine(d.After))
		case d.After == "":
			fmt.Fprintf(&b, "  - %s %s\n", d.Field, plaintext.OneLine(d.Before))
		default:
			fmt.Fprintf(&b, "  %s: %s -> %s\n", d.Field, plaintext.OneLine(d.Before), plaintext.OneLine(d.After))
		}
	}
	return b.String()
}

// row prints a row for each difference, and one empty row for a name without any.
func (p *Printer) row(c *Change) error {
	if err := p.header(); err != nil {
		return err
	}
	all := c.Differences
	if len(all) == 0 {
		all = []field.Difference{{}}
	}
	for _, d := range all {
		_ = p.table.Write(c.key(), string(c.Change), d.Field, d.Before, d.After) // Flush returns the error
	}
	return p.table.Flush()
}

func (p *Printer) header() error {
	if p.table != nil {
		return nil
	}
	p.table = tabular.NewWriter(p.Out, ',')
	return p.table.Write("name", "change", "field", "before", "after")
}

// End prints the counts, at the end of text and NDJSON. For CSV, which has no place for them, they are
// written to others.
func (p *Printer) End(others io.Writer) error {
	if p.failed != nil {
		return p.failed
	}
	switch p.Format {
	case CSV:
		err := p.header()
		_, failed := fmt.Fprintln(others, p.Counts)
		return errors.Join(err, p.table.Flush(), failed)
	case NDJSON:
		return p.json(map[string]Counts{"counts": p.Counts})
	case Text:
	}
	_, err := fmt.Fprintln(p.Out, p.Counts)
	return err
}
