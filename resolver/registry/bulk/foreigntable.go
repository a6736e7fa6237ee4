package bulk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/tabular"
)

// foreignTable reads the CSV of another program, whose first line names the columns.
type foreignTable struct {
	source  *charset.Source
	table   *tabular.Reader
	columns []string // in lower case
}

// foreignRecord is a row of it.
type foreignRecord struct {
	number int64
	input  string
	cells  map[string]string // by column, without those that are empty
}

func newForeignTable(source *charset.Source) *foreignTable {
	return &foreignTable{source: source, table: tabular.NewReader(source, 0)}
}

// record returns the next row, or one that cannot be imported; io.EOF after the last one. One of the columns must be
// there.
func (t *foreignTable) record(oneOf ...string) (*foreignRecord, *item, error) {
	if t.columns == nil {
		if err := t.header(oneOf); err != nil {
			return nil, nil, err
		}
	}
	for {
		row, err := t.table.Read()
		if err != nil {
			return nil, nil, err
		}
		switch cells, err := t.cells(&row); {
		case err != nil:
			return nil, rejected(row.Line, row.Text, "%w", err), nil
		case len(cells) > 0:
			return &foreignRecord{row.Line, row.Text, cells}, nil, nil
		}
	}
}

// cells returns the cells of a row that are not empty, by their columns.
func (t *foreignTable) cells(row *tabular.Row) (map[string]string, error) {
	if row.Err != nil {
		return nil, row.Err
	}
	if err := t.source.Check(row.Text); err != nil {
		return nil, err
	}
	cells := make(map[string]string, len(row.Cells))
	for i, cell := range row.Cells {
		switch {
		case strings.TrimSpace(cell) == "":
		case i < len(t.columns):
			cells[t.columns[i]] = cell
		default:
			return nil, errCells
		}
	}
	return cells, nil
}

// header reads the names of the columns.
func (t *foreignTable) header(oneOf []string) error {
	header, err := t.table.Header()
	if err != nil {
		return err
	}
	for _, name := range header.Cells {
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "" && slices.Contains(t.columns, name) {
			return fmt.Errorf("there are two columns %.100q", name)
		}
		t.columns = append(t.columns, name)
	}
	if !slices.ContainsFunc(oneOf, func(name string) bool { return slices.Contains(t.columns, strings.ToLower(name)) }) {
		return fmt.Errorf("the first line names no column %s, as exports of this format do", strings.Join(oneOf, " or "))
	}
	return nil
}

// take returns the cell of the first of some columns that the row has, which is read then; "" is for none.
func (r *foreignRecord) take(columns ...string) string {
	for _, column := range columns {
		if cell, ok := r.cells[column]; ok {
			delete(r.cells, column)
			return cell
		}
	}
	return ""
}

// rest returns the names of the columns that were not read, and have a cell.
func (r *foreignRecord) rest() []string {
	names := make([]string, 0, len(r.cells))
	for column := range r.cells {
		names = append(names, column)
	}
	slices.Sort(names)
	return names
}
