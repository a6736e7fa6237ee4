package bulk_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/urnd/urnd/resolver/registry/bulk"
)

// generate writes CSV of n names of 22 bytes with targets of about 50 bytes each: sorted, or as a
// permutation.
func generate(w io.Writer, n int, sorted bool) error {
	b := bufio.NewWriterSize(w, 1<<20)
	fmt.Fprintln(b, "name,target")
	modulus := 1
	for modulus < n {
		modulus *= 2
	}
	for i := range modulus {
		k := i
		if !sorted {
			k = (i*0x9E3779B1 + 12345) % modulus // a permutation, because the factor is odd
		}
		if k < n {
			fmt.Fprintf(b, "urn:nbn:fi:lib-%09d,https://repository.example.org/items/%d/%09d\n", k, k%997, k)
		}
	}
	return b.Flush()
}

// TestGenerate writes the files for docs/benchmarks.md: URND_GENERATE is the number of names,
// URND_GENERATE_DIR the directory.
func TestGenerate(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("URND_GENERATE"))
	if err != nil {
		t.Skip("URND_GENERATE is not set")
	}
	for name, sorted := range map[string]bool{"sorted.csv": true, "random.csv": false} {
		f, err := os.Create(filepath.Join(os.Getenv("URND_GENERATE_DIR"), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := generate(f, n, sorted); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkImport imports b.N names.
func BenchmarkImport(b *testing.B) {
	for _, c := range []struct {
		name   string
		sorted bool
	}{{"sorted", true}, {"random", false}} {
		b.Run(c.name, func(b *testing.B) {
			r := open(b)
			pipe, w := io.Pipe()
			go func() { w.CloseWithError(generate(w, b.N, c.sorted)) }()
			i := bulk.Import{Registry: r, Actor: admin, Format: bulk.CSV, TempDir: b.TempDir()}
			b.ReportAllocs()
			b.ResetTimer()
			report, err := i.Run(b.Context(), pipe)
			if err != nil || report.New != int64(b.N) {
				b.Fatalf("%+v, %v", report, err)
			}
		})
	}
}

// BenchmarkExport exports b.N names.
func BenchmarkExport(b *testing.B) {
	for _, format := range []bulk.Format{bulk.CSV, bulk.NDJSON} {
		b.Run(string(format), func(b *testing.B) {
			r := open(b)
			pipe, w := io.Pipe()
			go func() { w.CloseWithError(generate(w, b.N, true)) }()
			i := bulk.Import{Registry: r, Actor: admin, Format: bulk.CSV, TempDir: b.TempDir()}
			if _, err := i.Run(b.Context(), pipe); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			if err := bulk.Export(b.Context(), io.Discard, r, bulk.ExportOptions{Format: format}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
