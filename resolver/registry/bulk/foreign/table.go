package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry/field"
)

// table reads CSV of another program, whose header row names the columns.
type table struct {
	in      *Input
	rows    *tabular.Reader
	columns []string // in lower case
	oneOf   []string // at least one of these columns is required
}

func newTable(in *Input, oneOf ...string) *table {
	return &table{in: in, rows: tabular.NewReader(in, 0), oneOf: oneOf}
}

var errCells = errors.New("more fields than columns")

// next returns the next row; io.EOF after the last one.
func (t *table) next() (*record, error) {
	if t.columns == nil {
		if err := t.header(); err != nil {
			return nil, err
		}
	}
	for {
		row, err := t.rows.Read()
		if err != nil {
			return nil, err
		}
		r := &record{line: row.Line, text: row.Text, bad: row.Err}
		if r.bad == nil {
			r.bad = t.in.Check(row.Text)
		}
		for i, cell := range row.Cells {
			switch {
			case strings.TrimSpace(cell) == "" || r.bad != nil:
			case i < len(t.columns):
				r.members = append(r.members,
					field.Member{Name: t.columns[i], Value: json.RawMessage(field.AppendString(nil, cell))})
			default:
				r.bad = errCells
			}
		}
		if r.bad != nil || len(r.members) > 0 {
			return r, nil //nolint:nilerr // the row is rejected with the error
		}
	}
}

// header reads the header row.
func (t *table) header() error {
	header, err := t.rows.Header()
	if err != nil {
		return err
	}
	for _, name := range header.Cells {
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "" && slices.Contains(t.columns, name) {
			return fmt.Errorf("duplicate column %.100q", name)
		}
		t.columns = append(t.columns, name)
	}
	if !slices.ContainsFunc(t.oneOf,
		func(name string) bool { return slices.Contains(t.columns, strings.ToLower(name)) }) {
		return fmt.Errorf("first line without the column %s of this format", strings.Join(t.oneOf, " or "))
	}
	return nil
}
