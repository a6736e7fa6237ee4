package bulk

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/tabular"
)

// delimited reads CSV (RFC 4180) and what is like it.
type delimited struct {
	source  *charset.Source
	table   *tabular.Reader
	columns []column
	// guarded is that the table was made by an export, which begins cells that spreadsheets would compute with an apostrophe: it has the
	// version from which each line was made.
	guarded bool
}

var errCells = errors.New("it has more fields than there are columns")

// next implements format.
func (d *delimited) next() (b block, err error) {
	for size := 0; size < blockSize && len(b.rows) < maxBlock; {
		row, err := d.table.Read()
		if errors.Is(err, io.EOF) && len(b.rows) > 0 {
			return b, nil
		}
		if err != nil {
			return block{}, err
		}
		b.rows = append(b.rows, row)
		size += len(row.Text)
	}
	return b, nil
}

// lines implements format.
func (d *delimited) lines(b block, take func(l *line, input string, fault error)) {
	var l line
	for _, r := range b.rows {
		if r.Empty() {
			continue
		}
		targets := l.entry.Targets[:0]
		l = line{number: r.Line}
		l.entry.Targets = targets // its memory is used again
		fault := r.Err
		if fault == nil {
			fault = d.source.Check(r.Text)
		}
		if fault == nil {
			fault = d.set(&l, r.Cells)
		}
		if fault == nil {
			fault = l.finish()
		}
		take(&l, r.Text, fault)
	}
}

// set sets the fields of a line.
func (d *delimited) set(l *line, cells []string) error {
	for i, cell := range cells {
		switch {
		case i < len(d.columns):
			if d.guarded {
				cell = tabular.Unguarded(cell)
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

// begin sets the columns from the first line. It returns those that are left out.
func (d *delimited) begin(of Format, m mapping) (ignored []string, err error) {
	d.table = tabular.NewReader(d.source, of.separator())
	header, err := d.table.Header()
	if err != nil {
		return nil, err
	}
	if err := d.source.Check(header.Text); err != nil {
		return nil, fmt.Errorf("the names of the columns: %w", err)
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
			return nil, fmt.Errorf("there are two columns of the %s", c)
		}
		seen[c] = true
		d.columns = append(d.columns, c)
	}
	d.guarded = seen[column{field: fieldVersion}] || seen[column{field: fieldIfVersion}]
	switch {
	case len(unknown) == len(d.columns):
		return nil, fmt.Errorf("the first line is to name the columns, such as name,target; "+
			"it has %.100q, none of which is ours or mapped to ours", strings.TrimSpace(header.Text))
	case len(unknown) > 0:
		unknown = unknown[:min(len(unknown), maxShownColumns)]
		return nil, fmt.Errorf("the columns %s are not known; map them to ours, or to \"-\" to leave them out", strings.Join(unknown, ", "))
	case !slices.ContainsFunc(d.columns, func(c column) bool { return c.field == fieldName || c.field == fieldPrefix }):
		return nil, errors.New("there is no column of names")
	}
	return ignored, nil
}

// maxShownColumns bounds the columns that an error lists.
const maxShownColumns = 50

// separator returns what separates the cells of a table, 0 where that is to be found out.
func (f Format) separator() byte {
	if f == TSV {
		return '\t'
	}
	return 0
}
