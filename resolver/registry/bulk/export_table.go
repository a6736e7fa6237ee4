package bulk

import (
	"bufio"
	"slices"
	"strconv"

	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// tableExport writes CSV or TSV. Each target has a line; only the first line of a name has what is
// not of a target, but for what tells the version.
type tableExport struct {
	separator byte
	history   bool
	to        *tabular.Writer
	columns   []fieldID
	cells     []string // by field
	row       []string // by column
}

func (x *tableExport) begin(w *bufio.Writer, _ *entries) error {
	x.to = tabular.NewWriter(w, x.separator)
	x.columns = []fieldID{fieldName, fieldPrefix, fieldIfVersion}
	if x.history {
		x.columns[2] = fieldVersion
	}
	for f := fieldRecord; f <= fieldNote; f++ {
		if f != fieldTargets {
			x.columns = append(x.columns, f)
			continue
		}
		for t := fieldURI; t < fieldsEnd; t++ {
			x.columns = append(x.columns, t)
		}
	}
	x.cells = slices.Clone(columnNames)
	return x.write()
}

func (x *tableExport) entry(_ *bufio.Writer, e *registry.Entry) (err error) {
	clear(x.cells)
	for i, f := range field.OfRecord() {
		switch cell := &x.cells[int(fieldRecord)+i]; f.Type {
		case field.JSON:
			if *cell, err = field.CompactJSON(f.Text(&e.Record)); err != nil {
				return err
			}
		case field.Targets: // have columns of their own
		default:
			*cell = f.Text(&e.Record)
		}
	}
	x.cells[fieldBy], x.cells[fieldNote] = e.By, e.Note
	for i := range max(len(e.Targets), 1) {
		x.cells[fieldName], x.cells[fieldPrefix] = e.Name, field.FormatBool(e.Kind == registry.KindPrefix)
		version := strconv.Itoa(e.Version)
		x.cells[fieldVersion], x.cells[fieldIfVersion] = version, version
		x.cells[fieldChanged] = field.FormatTime(e.Changed)
		if len(e.Targets) > 0 {
			for n, f := range field.OfTarget() {
				x.cells[int(fieldURI)+n] = f.Text(&e.Targets[i])
			}
		}
		if err := x.write(); err != nil {
			return err
		}
		clear(x.cells)
		x.cells[fieldStatus] = e.Status.String()
	}
	return nil
}

// write writes a line.
func (x *tableExport) write() error {
	x.row = x.row[:0]
	for _, f := range x.columns {
		x.row = append(x.row, x.cells[f])
	}
	return x.to.Write(x.row...)
}

func (x *tableExport) end(*bufio.Writer) error { return x.to.Flush() }
