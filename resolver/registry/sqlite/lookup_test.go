package sqlite_test

import (
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// BenchmarkLookup measures a lookup in a small store, without the cost of finding pages.
func BenchmarkLookup(b *testing.B) {
	s := open(b, filled(b, 1000))
	defer closed(b, s)
	for name, key := range map[string]registry.Key{"registered": testName(500), "unknown": testName(5000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Lookup(b.Context(), key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
