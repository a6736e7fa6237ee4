package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// BenchmarkRegistryUncached measures the handler for names of the registry with a cache miss, without a
// protocol.
func BenchmarkRegistryUncached(b *testing.B) {
	const names = 100_000
	c := config.Default()
	c.Registry.Store = "sqlite:" + filepath.Join(b.TempDir(), "registry.db")
	c.DDDS.Enabled = false
	c.Cache.Answers = 1 << 10 // less than one
	fillRegistry(b, c.Registry.Store[len("sqlite:"):], names)
	p, err := wireAll(c, newDependencies())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.close)
	p.openRegistry(b.Context(), b.Output())
	w := new(discardWriter)
	random := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	before := ownTime(b)
	for b.Loop() {
		w.answerTo(p.service, localRequest("/"+registryName(random.IntN(names))))
		if w.status != http.StatusFound {
			b.Fatal(w.status)
		}
	}
	b.ReportMetric(float64(ownTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// ownTime returns the CPU time of this process, in nanoseconds.
func ownTime(b *testing.B) int64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func registryName(i int) string { return fmt.Sprintf("urn:nbn:fi-fe%012d", i) }

// fillRegistry creates a registry with a number of names.
func fillRegistry(tb testing.TB, path string, names int) {
	tb.Helper()
	fillRegistryFrom(tb, path, 0, names)
}

// fillRegistryFrom is fillRegistry with the names from a number on.
func fillRegistryFrom(tb testing.TB, path string, from, names int) {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	for first := from; first < from+names; first += 10_000 {
		err := s.Bulk(context.WithoutCancel(tb.Context()), func(tx registry.WriteTx) error {
			w := registry.NewBatch(tx, "test", time.Unix(1_900_000_000, 0))
			for i := first; i < min(first+10_000, from+names); i++ {
				record := registry.Record{Targets: targets(fmt.Sprintf("https://www.example.org/publications/%012d",
					i))}
				if _, _, err := w.Put(registry.Name(registryName(i)), record, ""); err != nil {
					return err
				}
			}
			_, err := w.Flush()
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}
