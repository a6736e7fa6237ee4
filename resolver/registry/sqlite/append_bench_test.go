package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// BenchmarkAppend appends new names in ascending order, 10,000 per transaction, as an import does.
func BenchmarkAppend(b *testing.B) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "registry.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	set := registry.ChangeSet{Kind: registry.KindImport, By: "import", Time: time.UnixMilli(1)}
	const atOnce = 10_000
	changes := make([]registry.Changed, atOnce)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		for i := range changes {
			changes[i] = registry.Changed{After: registry.Entry{
				Key: registry.Name(fmt.Sprintf("urn:nbn:fi:ex-%08d", n*atOnce+i)), Version: 1, Changed: set.Time,
				By: set.By,
				Record: registry.Record{
					Since: set.Time,
					Targets: []registry.Target{{URI: fmt.Sprintf("https://host%d.example.org/publications/%09d", i%20,
						i)}},
				},
			}}
		}
		b.StartTimer()
		err := s.Bulk(b.Context(), func(tx registry.WriteTx) error { return tx.Append(&set, changes, nil) })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/atOnce, "ns/name")
}
