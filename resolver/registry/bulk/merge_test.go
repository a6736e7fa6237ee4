package bulk_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// If two registries differ in a name, importing the export of one into the other overwrites nothing, whatever
// the version numbers and times are.
func TestMerge(t *testing.T) {
	for _, later := range []time.Duration{-time.Hour, 0, time.Hour} {
		for _, history := range []bool{false, true} {
			for _, format := range []bulk.Format{bulk.NDJSON, bulk.CSV} {
				here, there := mergedAt(t, epoch), mergedAt(t, epoch.Add(later))
				imported(t, bulk.Import{Registry: here},
					"name,target\nurn:nbn:fi:a,https://here.example/a\nurn:nbn:fi:same,https://example.org/\n")
				imported(t, bulk.Import{Registry: there},
					"name,target\nurn:nbn:fi:a,https://there.example/a\nurn:nbn:fi:same,https://example.org/\nurn:nbn:fi:new,https://there.example/new\n")
				for range 2 {
					imported(t, bulk.Import{Registry: there, Overwrite: true}, "name,contact\nurn:nbn:fi:a,c\n")
					imported(t, bulk.Import{Registry: there, Overwrite: true}, "name,contact\nurn:nbn:fi:a,d\n")
				}
				var text strings.Builder
				if err := bulk.Export(t.Context(), &text, there,
					bulk.ExportOptions{Format: format, History: history}); err != nil {
					t.Fatal(err)
				}
				here = registryOf(t, here.Store(), func() time.Time { return epoch.Add(2 * time.Hour) })
				_, rejected := imported(t, bulk.Import{Registry: here, Transaction: 1, Format: format}, text.String())
				e, err := here.Get(t.Context(), registry.Name("urn:nbn:fi:a"))
				if err != nil || e.Version != 1 || e.Targets[0].URI != "https://here.example/a" || len(rejected) == 0 {
					t.Errorf("%s, history %t, %s later: %+v, %v; %v", format, history, later, e, err, rejected)
				}
				if e, err = here.Get(t.Context(), registry.Name("urn:nbn:fi:new")); err != nil ||
					e.Targets[0].URI != "https://there.example/new" {
					t.Errorf("%s, history %t: new: %+v, %v", format, history, e, err)
				}
			}
		}
	}
}

// Equal version numbers do not make two versions the same.
func TestMergeSameNumber(t *testing.T) {
	for _, later := range []time.Duration{-time.Hour, time.Hour} {
		here, there := mergedAt(t, epoch), mergedAt(t, epoch.Add(later))
		imported(t, bulk.Import{Registry: here}, "name,target\nurn:nbn:fi:a,https://here.example/a\n")
		imported(t, bulk.Import{Registry: there}, "name,target\nurn:nbn:fi:a,https://there.example/a\n")
		var text strings.Builder
		if err := bulk.Export(t.Context(), &text, there, bulk.ExportOptions{Format: bulk.CSV}); err != nil {
			t.Fatal(err)
		}
		here = registryOf(t, here.Store(), func() time.Time { return epoch.Add(2 * time.Hour) })
		_, rejected := imported(t, bulk.Import{Registry: here}, text.String())
		if e, err := here.Get(t.Context(), registry.Name("urn:nbn:fi:a")); err != nil || e.Version != 1 ||
			len(rejected) != 1 {
			t.Errorf("%s later: %+v, %v; %v\n%s", later, e, err, rejected, &text)
		}
	}
}

func mergedAt(t *testing.T, at time.Time) *registry.Registry {
	t.Helper()
	return registryOf(t, open(t).Store(), func() time.Time { return at })
}

// Names that have exchanged their places, an alias and what it stands for, are moved with their history: each version
// was valid in its time.
func TestHistoryOfExchangedAliases(t *testing.T) {
	from, to := open(t), open(t)
	var edits []registry.Edit
	put := func(name, alias string) {
		record := registry.Record{Alias: alias}
		if alias == "" {
			record.Targets = []registry.Target{{URI: "https://example.org/"}}
		}
		edits = append(edits,
			registry.Edit{Key: registry.Name(name), IfVersion: registry.AnyVersion, Change: registry.Put(record)})
	}
	put("urn:nbn:fi:a", "")
	put("urn:nbn:fi:b", "urn:nbn:fi:a")
	put("urn:nbn:fi:b", "")
	put("urn:nbn:fi:a", "urn:nbn:fi:b")
	for _, edit := range edits {
		if _, err := from.Apply(t.Context(), admin, edit); err != nil {
			t.Fatal(err)
		}
	}
	o := bulk.ExportOptions{History: true}
	text := exported(t, from, o)
	for _, transaction := range []int{1, 0} {
		report, rejected := imported(t, bulk.Import{Registry: to, Transaction: transaction}, text)
		if rejected != nil || report.Names != 4 || exported(t, to, o) != text {
			t.Errorf("%+v, rejected were %v", report, rejected)
		}
	}
	report, rejected := imported(t, bulk.Import{Registry: open(t)},
		text+`{"name":"urn:nbn:fi:b","version":3,"alias":"urn:nbn:fi:a","changed":"2030-03-17T17:46:40.123Z"}`+"\n")
	if report.Rejected != 1 || !errors.Is(rejected[0].Reason, registry.ErrInvalid) {
		t.Errorf("a loop is not rejected: %+v, %v", report, rejected)
	}
}

// Lines that swap an alias and its target, or reverse a chain of aliases, are imported in whatever order; those that
// make a loop are rejected.
func TestReversedAliases(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		rejected            int64
	}{
		{"a swap", "a,,T\nb,a,\n", "a,b,\nb,,T\n", 0},
		{"a chain", "a,,T\nb,a,\nc,b,\n", "a,b,\nb,c,\nc,,T\n", 0},
		{"a loop", "a,,T\nb,a,\nc,,T\n", "a,b,\nc,a,\n", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := open(t)
			table := func(text string) string {
				for _, name := range []string{"a", "b", "c"} {
					text = strings.ReplaceAll(text, name+",", "urn:nbn:fi:"+name+",")
				}
				return "name,alias,target\n" + strings.ReplaceAll(text, "T", "https://example.org/")
			}
			if _, rejected := imported(t, bulk.Import{Registry: r}, table(c.before)); len(rejected) > 0 {
				t.Fatalf("%v", rejected)
			}
			report, rejected := imported(t, bulk.Import{Registry: r, Overwrite: true}, table(c.after))
			if report.Rejected != c.rejected || int64(len(rejected)) != c.rejected {
				t.Errorf("%+v, rejected were %v; there is %s", report, rejected, summary(t, r))
			}
		})
	}
}
