package bulk_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// An alias that is equivalent to its own target name under changed rules of its namespace could not be
// imported again, so it is not exported.
func TestExportSpellings(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	by := func(canonical func(string) string) *registry.Registry {
		rule := func(text string) (string, error) { return canonical(text), nil }
		return registry.New(registry.Config{Store: store, Canonical: rule, CanonicalPrefix: rule, Now: time.Now})
	}
	asIs := by(func(text string) string { return text })
	for name, record := range map[string]registry.Record{
		"urn:example:a": {Targets: []registry.Target{{URI: "https://a.example/"}}},
		"urn:example:A": {Alias: "urn:example:a"},
		"urn:example:b": {Alias: "urn:example:a"},
	} {
		actor := registry.Actor{Name: "test", Role: registry.Admin}
		if _, err := asIs.Apply(t.Context(), actor,
			registry.Edit{
				Key: registry.Name(name), IfVersion: registry.AnyVersion,
				Change: registry.Put(record),
			}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		registry *registry.Registry
		want     int
	}{{asIs, 3}, {by(strings.ToLower), 2}} {
		if got := exported(t, c.registry, bulk.ExportOptions{}); strings.Count(got, "\n") != c.want {
			t.Errorf("exported are, instead of %d:\n%s", c.want, got)
		}
	}
}

// The target of an alias is that of the time of the export, in the formats that have no aliases too.
func TestExportOfAliasesAt(t *testing.T) {
	now := epoch
	store := openFile(t, filepath.Join(t.TempDir(), "registry.db")).Store()
	r := registryOf(t, store, func() time.Time { return now })
	imported(t, bulk.Import{Registry: r},
		"name,target,alias\nurn:nbn:fi:a,,urn:nbn:fi:b\nurn:nbn:fi:b,https://old.example/,\n"+
			"urn:nbn:fi:c,,urn:nbn:fi:d\n")
	now = now.Add(time.Hour)
	imported(t, bulk.Import{Registry: r, Overwrite: true},
		"name,target\nurn:nbn:fi:b,https://new.example/\nurn:nbn:fi:d,https://new.example/\n")
	for _, o := range []bulk.ExportOptions{
		{Format: bulk.NginxMap}, {Format: bulk.NAPTRZone, Prefix: "urn:nbn:fi:", Zone: "example."},
	} {
		if text := exported(t, r, o); strings.Count(text, "https://new.example/") != 4 {
			t.Errorf("exported were\n%s", text)
		}
		o.At = epoch
		if text := exported(t, r, o); strings.Count(text, "https://old.example/") != 2 ||
			strings.Contains(text, "new.") {
			t.Errorf("exported at %s were\n%s", o.At, text)
		}
	}
}
