package field_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/uri"
)

// sample sets a field of a struct to a value other than its zero value. A new Go type has to be added here
// and in package field.
func sample(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *string:
		*x = map[string]string{"Metadata": `{"a":"b"}`, "URI": "https://example.org/", "Alias": "urn:example:b"}[name]
		if *x == "" {
			*x = "item"
		}
	case *int:
		*x = 301
	case *bool:
		*x = true
	case *time.Time:
		*x = time.Date(2031, 5, 1, 10, 0, 0, 123_000_000, time.UTC)
	case *registry.Status:
		*x = registry.Withdrawn
	case *[]string:
		*x = []string{"urn:example:a", "https://example.org/"}
	case *[]registry.Target:
		target := registry.Target{}
		for f, value := range reflect.ValueOf(&target).Elem().Fields() {
			sample(t, f.Name, value)
		}
		*x = []registry.Target{target, {URI: "https://example.org/2"}}
	default:
		t.Fatalf("no sample of a %s", v.Type())
	}
}

// each calls f with each field of T, its row, and a T in which only this field is set. It fails for a field
// without a row.
func each[T any](t *testing.T, fields field.Fields[T], f func(t *testing.T, row *field.Field[T], filled T)) {
	t.Helper()
	for i := range reflect.TypeFor[T]().NumField() {
		name := reflect.TypeFor[T]().Field(i).Name
		t.Run(reflect.TypeFor[T]().Name()+"."+name, func(t *testing.T) {
			var filled T
			sample(t, name, reflect.ValueOf(&filled).Elem().Field(i))
			row := fields.Find(strings.ToLower(name))
			if row == nil {
				t.Fatalf("registry.%s.%s has no row in table.go", reflect.TypeFor[T]().Name(), name)
			}
			f(t, row, filled)
		})
	}
}

// Each field has a row, whose functions access only this field.
func TestRows(t *testing.T) {
	each(t, field.RecordFields(), func(t *testing.T, f *field.Field[registry.Record], r registry.Record) {
		testRow(t, field.RecordFields(), f, r)
	})
	each(t, field.TargetFields(), func(t *testing.T, f *field.Field[registry.Target], r registry.Target) {
		testRow(t, field.TargetFields(), f, r)
	})
	if n := len(field.RecordFields()); n != reflect.TypeFor[registry.Record]().NumField() {
		t.Errorf("the table of records has %d rows", n)
	}
	if n := len(field.TargetFields()); n != reflect.TypeFor[registry.Target]().NumField() {
		t.Errorf("the table of targets has %d rows", n)
	}
}

func testRow[T any](t *testing.T, fields field.Fields[T], f *field.Field[T], filled T) {
	t.Helper()
	for _, other := range fields {
		if other.Empty(&filled) == (other == f) {
			t.Errorf("%s is empty: %t", other.Name, other.Empty(&filled))
		}
	}
	if f.Label == "" || f.Doc == "" || strings.ContainsAny(f.Doc, "`") || strings.HasSuffix(f.Doc, ".") {
		t.Errorf("the row has no label, or no sentence that says what it is: %q, %q", f.Label, f.Doc)
	}
	var zero, copied, ofText, ofJSON T
	if f.Copy(&copied, &filled); !reflect.DeepEqual(copied, filled) {
		t.Errorf("copied is %+v", copied)
	}
	if f.Equal(&zero, &filled) || !f.Equal(&copied, &filled) {
		t.Error("Equal is wrong")
	}
	if len(f.Lines(&zero)) > 0 && f.Type != field.Status || len(f.Lines(&filled)) == 0 {
		t.Errorf("for people it is %q, and %q where it is empty", f.Lines(&filled), f.Lines(&zero))
	}
	if err := f.SetText(&ofText, f.Text(&filled)); err != nil || f.Text(&ofText) != f.Text(&filled) ||
		!f.Equal(&ofText, &filled) && f.Type != field.Targets { // its text has only URIs
		t.Errorf("as text it is %q, which is read as %+v, %v", f.Text(&filled), ofText, err)
	}
	value, err := f.AppendJSON(nil, &filled)
	if err == nil {
		err = f.SetJSON(&ofJSON, value)
	}
	if err != nil || !reflect.DeepEqual(ofJSON, filled) {
		t.Errorf("as JSON it is %s, which is read as %+v, %v", value, ofJSON, err)
	}
	object, err := fields.AppendMembers([]byte("{"), &filled)
	ofJSON = zero
	if err == nil {
		err = fields.SetMembers(&ofJSON, append(object, '}'))
	}
	if err != nil || !reflect.DeepEqual(ofJSON, filled) {
		t.Errorf("the document is %s, which is read as %+v, %v", object, ofJSON, err)
	}
}

// Record.Equal compares every field.
func TestEqual(t *testing.T) {
	each(t, field.RecordFields(), func(t *testing.T, _ *field.Field[registry.Record], filled registry.Record) {
		other := filled
		if filled.Equal(new(registry.Record)) || new(registry.Record).Equal(&filled) || !filled.Equal(&other) {
			t.Error("Record.Equal does not compare it")
		}
	})
	each(t, field.TargetFields(), func(t *testing.T, _ *field.Field[registry.Target], filled registry.Target) {
		if filled.Equal(registry.Target{}) || !filled.Equal(filled) {
			t.Error("Target.Equal does not compare it")
		}
	})
}

// Differences lists each field except the read-only ones.
func TestDifferencesOfFields(t *testing.T) {
	each(t, field.RecordFields(), func(t *testing.T, f *field.Field[registry.Record], filled registry.Record) {
		added, removed := field.Differences(registry.Record{}, filled), field.Differences(filled, registry.Record{})
		if f.ReadOnly != (len(added) == 0) || len(added) != len(removed) || !f.ReadOnly && added[0].Field != f.Label {
			t.Errorf("the difference is %q, and %q the other way round", added, removed)
		}
	})
	each(t, field.TargetFields(), func(t *testing.T, _ *field.Field[registry.Target], filled registry.Target) {
		plain := registry.Target{URI: "https://a.example/"}
		if filled.URI == "" {
			filled.URI = plain.URI
		}
		all := field.Differences(registry.Record{Targets: []registry.Target{plain}},
			registry.Record{Targets: []registry.Target{filled}})
		if len(all) != 2 || all[0].Before == all[1].After {
			t.Errorf("the difference is %q", all)
		}
	})
}

// A store preserves every field.
func TestStored(t *testing.T) {
	r := newRegistry(t)
	n := 0
	stored := func(t *testing.T, record registry.Record) registry.Record {
		t.Helper()
		n++
		e := registry.Entry{
			Key: registry.Name(fmt.Sprintf("urn:example:%d", n)), Version: 1,
			Changed: time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC), Record: record,
		}
		err := r.Store().Write(t.Context(), func(tx registry.WriteTx) error {
			return tx.Append(&registry.ChangeSet{Time: e.Changed}, []registry.Changed{{After: e}}, nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Get(t.Context(), e.Key)
		if err != nil {
			t.Fatal(err)
		}
		if record.Since.IsZero() {
			got.Since = time.Time{}
		}
		return got.Record
	}
	each(t, field.RecordFields(), func(t *testing.T, _ *field.Field[registry.Record], filled registry.Record) {
		if got := stored(t, filled); !reflect.DeepEqual(got, filled) {
			t.Errorf("a store has it as %+v, want %+v", got, filled)
		}
	})
	each(t, field.TargetFields(), func(t *testing.T, _ *field.Field[registry.Target], filled registry.Target) {
		if filled.URI == "" {
			filled.URI = "https://example.org/"
		}
		record := registry.Record{Targets: []registry.Target{filled}}
		if got := stored(t, record); !reflect.DeepEqual(got, record) {
			t.Errorf("a store has it as %+v, want %+v", got, record)
		}
	})
}

func newRegistry(t *testing.T) *registry.Registry {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	same := func(text string) (string, error) {
		_, err := uri.Parse(text)
		return text, err
	}
	return registry.New(registry.Config{Store: store, Canonical: same, CanonicalPrefix: same, Now: time.Now})
}

// Texts of all fields are bounded and valid.
func TestValidation(t *testing.T) {
	r := newRegistry(t)
	refused := func(t *testing.T, record registry.Record, kinds field.Kinds) {
		t.Helper()
		key := registry.Name("urn:example:a")
		if kinds == field.Prefixes {
			key = registry.Prefix("urn:example:")
		}
		if _, err := r.Check(key, record); err == nil {
			t.Error("Registry.Check accepts more than MaxMetadata bytes, or invalid text")
		}
	}
	for _, text := range []string{strings.Repeat("x", registry.MaxMetadata+1), "\xff"} {
		each(t, field.RecordFields(), func(t *testing.T, f *field.Field[registry.Record], _ registry.Record) {
			record := registry.Record{Status: registry.Withdrawn}
			switch v := reflect.ValueOf(&record).Elem().Field(slices.Index(field.RecordFields(),
				f)).Addr().Interface().(type) {
			case *string:
				*v = text
			case *[]string:
				*v = []string{text}
			default:
				return
			}
			refused(t, record, f.Kinds)
		})
		each(t, field.TargetFields(), func(t *testing.T, f *field.Field[registry.Target], _ registry.Target) {
			target := registry.Target{URI: "https://example.org/"}
			if v, ok := reflect.ValueOf(&target).Elem().Field(slices.Index(field.TargetFields(),
				f)).Addr().Interface().(*string); ok {
				*v = text
				refused(t, registry.Record{Targets: []registry.Target{target}}, field.Both)
			}
		})
	}
}

// A redaction removes the redactable fields, and no others.
func TestRedaction(t *testing.T) {
	r, key := newRegistry(t), registry.Prefix("urn:example:")
	actor := registry.Actor{Name: "anna", Role: registry.Admin}
	var full registry.Record
	for f, value := range reflect.ValueOf(&full).Elem().Fields() {
		sample(t, f.Name, value)
	}
	for _, record := range []registry.Record{full, {Status: registry.Withdrawn, Reason: "other"}} {
		if _, err := r.Change(t.Context(), actor, func(_ registry.WriteTx, w *registry.Batch) error {
			_, _, err := w.Put(key, record, "")
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := r.Redact(t.Context(), actor, key, []int{1}, "a name"); err != nil || n != 1 {
		t.Fatalf("%d versions were redacted, %v", n, err)
	}
	versions, err := r.History(t.Context(), key, 0, 2)
	if err != nil || len(versions) != 2 {
		t.Fatalf("%+v, %v", versions, err)
	}
	each(t, field.RecordFields(), func(t *testing.T, f *field.Field[registry.Record], _ registry.Record) {
		if f.Empty(&versions[1].Record) != f.Redactable {
			t.Errorf("the redaction has left %q, and the table says that it is removed: %t",
				f.Text(&versions[1].Record), f.Redactable)
		}
	})
}

// docs/registry-import.md documents each column and each member.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/registry-import.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `") {
			rows = append(rows, line)
		}
	}
	documented := func(t *testing.T, name string) {
		t.Helper()
		if !slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, "`"+name+"`") }) {
			t.Errorf("the table of columns in docs/registry-import.md has no %s", name)
		}
	}
	each(t, field.RecordFields(),
		func(t *testing.T, f *field.Field[registry.Record], _ registry.Record) { documented(t, f.ColumnName()) })
	each(t, field.TargetFields(), func(t *testing.T, f *field.Field[registry.Target], _ registry.Target) {
		documented(t, f.ColumnName())
		documented(t, f.Name)
	})
}

// A date is the beginning of the day, but of an end its end, within the years that stores have.
func TestDates(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"from", "2031-05-01", "2031-05-01T00:00:00Z"},
		{"until", "2031-05-01", "2031-05-02T00:00:00Z"},
		{"until", " 2031-12-31 ", "2032-01-01T00:00:00Z"},
		{"until", "2031-05-01T00:00:00Z", "2031-05-01T00:00:00Z"},
		{"until", "9999-12-31", "9999-12-31T23:59:59.999Z"},
		{"until", "", ""},
	} {
		var target registry.Target
		f := field.TargetFields().Find(c.name)
		if err := f.SetText(&target, c.text); err != nil || f.Text(&target) != c.want {
			t.Errorf("%s %q is %q, %v; want %q", c.name, c.text, f.Text(&target), err, c.want)
		}
	}
}
