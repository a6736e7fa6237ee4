package bulk_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// A line whose name has a warning is imported, and the warning is reported.
func TestWarnings(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	config := configOf(t, store, func() time.Time { return epoch })
	wrong := errors.New("the check digit is wrong")
	config.Warning = func(name string) error {
		if strings.HasSuffix(name, "b") {
			return wrong
		}
		return nil
	}
	r := registry.New(config)
	report, rejected := imported(t, bulk.Import{Registry: r},
		"name,target\nurn:nbn:fi:a,https://example.org/1\nurn:nbn:fi:b,https://example.org/2\n")
	if report.New != 2 || report.Warnings != 1 || report.Rejected != 0 {
		t.Errorf("the report is %+v", report)
	}
	if len(rejected) != 1 || rejected[0].Line != 3 || !rejected[0].Warning || !errors.Is(rejected[0].Reason, wrong) {
		t.Errorf("reported %+v", rejected)
	}
}

// A pattern of the Bioregistry is imported and exported, if it is a valid pattern.
func TestBioregistryPattern(t *testing.T) {
	r := open(t)
	report, rejected := imported(t, bulk.Import{Registry: r, Format: bulk.Bioregistry},
		`{"a":{"pattern":"^\\d+$","uri_format":"https://a.example/$1"},
		"b":{"pattern":"(?=x)","uri_format":"https://b.example/$1"}}`)
	if report.New != 2 || report.UnmappedCount != 1 || len(rejected) != 1 ||
		!strings.Contains(rejected[0].Reason.Error(), "(?=x)") {
		t.Errorf("%+v, %v", report, rejected)
	}
	for _, format := range []bulk.Format{bulk.NDJSON, bulk.CSV} {
		other := open(t)
		imported(t, bulk.Import{Registry: other, Format: format}, exported(t, r, bulk.ExportOptions{Format: format}))
		if e, err := other.Get(t.Context(), registry.Prefix("a:")); err != nil || e.Pattern != `^\d+$` {
			t.Errorf("%v: %+v, %v", format, e, err)
		}
	}
	report, rejected = imported(t, bulk.Import{Registry: r, Overwrite: true},
		"name,prefix,pattern\na:,true,(\nb:,true,b+\n")
	if report.Changed != 1 || report.Rejected != 1 || len(rejected) != 1 {
		t.Errorf("%+v, %v", report, rejected)
	}
}

// While others write, transactions become short, so that no writer waits long.
func TestPace(t *testing.T) {
	r := open(t)
	var text strings.Builder
	text.WriteString("name,target\n")
	for i := range 9000 {
		fmt.Fprintf(&text, "urn:nbn:fi:many-%05d,https://example.org/\n", i)
	}
	var sizes []int64
	done, writes := int64(0), 0
	i := bulk.Import{Registry: r, Transaction: 1000}
	i.Progress = func(p bulk.Progress) {
		if p.Stage != bulk.Writing {
			return
		}
		sizes, done = append(sizes, p.Done-done), p.Done
		if writes++; writes > 5 {
			return
		}
		edit := registry.Edit{
			Key:       registry.Name(fmt.Sprintf("urn:nbn:fi:own-%d", writes)),
			IfVersion: registry.AnyVersion,
		}
		edit.Change = registry.Put(registry.Record{Contact: "x", Status: registry.Reserved})
		if _, err := r.Apply(t.Context(), admin, edit); err != nil {
			t.Error(err)
		}
	}
	report, _ := imported(t, i, text.String())
	short := 0
	for _, size := range sizes {
		if size > 0 && size <= 100 {
			short++
		}
	}
	if report.New != 9000 || short < 5 || sizes[0] > 1000 {
		t.Errorf("%+v, transactions of %v", report, sizes)
	}
}
