package bulk

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// Each field in the tables has a column, and an exported cell is parsed to the same value.
func TestColumnsOfFields(t *testing.T) {
	if fieldsEnd > 64 {
		t.Fatalf("%d fields do not fit into the set of those that a line says", fieldsEnd)
	}
	e := registry.Entry{Key: registry.Name("urn:example:a"), Record: registry.Record{Targets: []registry.Target{{}}}}
	for _, f := range field.RecordFields() {
		if f.Type != field.Targets {
			fill(t, f, &e.Record)
		}
	}
	for _, f := range field.TargetFields() {
		fill(t, f, &e.Targets[0])
	}
	for name, format := range map[string]Format{"csv": CSV, "ndjson": NDJSON} {
		var b bytes.Buffer
		w := bufio.NewWriter(&b)
		var l line
		if format == CSV {
			x := &tableExport{separator: ',', history: true}
			if err := x.begin(w, nil); err != nil {
				t.Fatal(err)
			}
			if err := x.entry(w, &e); err != nil {
				t.Fatal(err)
			}
			w.Flush()
			rows, err := csv.NewReader(&b).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for i, title := range rows[0] {
				c, ok := columnOf(title)
				if err := l.set(c, rows[1][i]); !ok || err != nil {
					t.Errorf("%s: the column %s is not read: %v", name, title, err)
				}
			}
		} else {
			x := &ndjsonExport{history: true}
			if err := x.entry(w, &e); err != nil {
				t.Fatal(err)
			}
			w.Flush()
			p := mapping{}
			d := jsontext.NewDecoder(&b)
			if err := members(d, func(name string) error { return p.member(d, &l, name) }); err != nil {
				t.Fatal(err)
			}
		}
		read := l.entry.Record
		read.Targets = append(read.Targets, l.more...)
		for _, f := range field.RecordFields() {
			if !f.Equal(&e.Record, &read) {
				t.Errorf("%s: %s is read as %q, and was %q", name, f.Name, f.Lines(&read), f.Lines(&e.Record))
			}
		}
	}
}

func fill[T any](t *testing.T, f *field.Field[T], v *T) {
	t.Helper()
	text := map[field.Type]string{
		field.Time: "2031-05-01T00:00:00Z", field.Number: "303", field.Bool: "true", field.Status: "withdrawn",
		field.JSON: `{"a":"b"}`,
		field.List: "urn:example:b urn:example:c",
	}[f.Type]
	if text == "" {
		text = "item"
	}
	if err := f.SetText(v, text); err != nil || f.Empty(v) {
		t.Fatalf("%s: %v", f.Name, err)
	}
}
