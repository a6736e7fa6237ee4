package bulk

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/tabular"
)

// delimited reads CSV (RFC 4180) and its variants, such as TSV.
type delimited struct {
	table   *tabular.Reader
	columns []column
	// guarded means that an export wrote the table, which is known by its column of versions. An export puts
	// an apostrophe before cells that a spreadsheet would evaluate as formulas.
	guarded bool
}

var errCells = refusal("line_cells", "more fields than columns")

// parser returns a function that sets the fields of a line from a row.
func (d *delimited) parser() func(l *line, row *tabular.Row) error {
	return func(l *line, row *tabular.Row) error {
		for i, cell := range row.Cells {
			switch {
			case i < len(d.columns):
				if d.guarded {
					cell = tabular.Unguard(cell)
				}
				if err := l.set(d.columns[i], cell); err != nil {
					return err
				}
			case cell != "":
				return errCells
			}
		}
		return nil
	}
}

// begin sets the columns from the header row. It returns the names of the ignored columns.
func (d *delimited) begin(source *charset.Source, m mapping) (ignored []string, err error) {
	header, err := d.table.Header()
	if err != nil {
		return nil, err
	}
	if err := source.Check(header.Text); err != nil {
		return nil, fmt.Errorf("column names: %w", err)
	}
	seen := make(map[column]bool)
	var unknown []string
	for _, cell := range header.Cells {
		if cell == "" {
			d.columns = append(d.columns, column{})
			continue
		}
		c, ok := m.of(cell)
		if !ok {
			unknown = append(unknown, cell)
		}
		if c.field == fieldIgnored {
			ignored = append(ignored, cell)
		} else if seen[c] {
			return nil, fmt.Errorf("duplicate column for the %s", c)
		}
		seen[c] = true
		d.columns = append(d.columns, c)
	}
	d.guarded = seen[column{field: fieldVersion}] || seen[column{field: fieldIfVersion}]
	switch {
	case len(unknown) == len(d.columns):
		return nil, fmt.Errorf("the first line must have the column names, such as name,target; "+
			"%.100q has no known or mapped column", strings.TrimSpace(header.Text))
	case len(unknown) > 0:
		unknown = unknown[:min(len(unknown), maxShownColumns)]
		return nil, fmt.Errorf("unknown columns %s: map them to known columns, or to \"-\" to omit them",
			strings.Join(unknown, ", "))
	case !slices.ContainsFunc(d.columns, func(c column) bool { return c.field == fieldName || c.field == fieldPrefix }):
		return nil, errors.New("no column for the name")
	}
	return ignored, nil
}

// maxShownColumns bounds the columns that an error lists.
const maxShownColumns = 50

// separator returns the byte that separates the cells of a table, 0 if it has to be detected.
func (f Format) separator() byte {
	if f == TSV {
		return '\t'
	}
	return 0
}
