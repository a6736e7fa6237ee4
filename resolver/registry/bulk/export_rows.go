package bulk

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"

	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// tableExport writes CSV or TSV, one row for each target. Only the first row of a name has the fields of the
// record; further rows repeat only the status and the cells that identify the version.
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
	for i, f := range field.RecordFields() {
		switch cell := &x.cells[int(fieldRecord)+i]; f.Type {
		case field.JSON:
			if *cell, err = field.CompactJSON(f.Text(&e.Record)); err != nil {
				return err
			}
		case field.Targets: // targets have columns of their own
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
			for n, f := range field.TargetFields() {
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

// write writes a row.
func (x *tableExport) write() error {
	x.row = x.row[:0]
	for _, f := range x.columns {
		x.row = append(x.row, x.cells[f])
	}
	return x.to.Write(x.row...)
}

func (x *tableExport) end(*bufio.Writer) error { return x.to.Flush() }

// ndjsonExport writes one JSON object per line, with the members of the API's documents.
type ndjsonExport struct {
	history bool
	line    []byte
}

func (x *ndjsonExport) begin(*bufio.Writer, *entries) error { return nil }

func (x *ndjsonExport) entry(w *bufio.Writer, e *registry.Entry) (err error) {
	b := field.AppendString(append(x.line[:0], `{"name":`...), e.Name)
	if e.Kind == registry.KindPrefix {
		b = append(b, `,"prefix":true`...)
	}
	if e.Version > 0 {
		name := columnNames[fieldIfVersion]
		if x.history {
			name = columnNames[fieldVersion]
		}
		b = strconv.AppendInt(append(b, `,"`+name+`":`...), int64(e.Version), 10)
	}
	b, err = field.RecordFields().AppendMembers(append(b, ','), &e.Record, field.Targets)
	if err == nil && !e.Changed.IsZero() {
		b = append(b, `,"changed":`...)
		var changed []byte
		changed, err = e.Changed.MarshalJSON()
		b = append(b, changed...)
	}
	for _, t := range [...][2]string{{`,"by":`, e.By}, {`,"note":`, e.Note}} {
		if t[1] != "" {
			b = field.AppendString(append(b, t[0]...), t[1])
		}
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", e.Key, err)
	}
	x.line = append(b, "}\n"...)
	_, err = w.Write(x.line)
	return err
}

func (x *ndjsonExport) end(*bufio.Writer) error { return nil }
