package sorter_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry/sqlite/sorter"
)

// randomRecords returns n records of random bytes, of at most length bytes.
func randomRecords(n, length int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	records := make([][]byte, n)
	for i := range records {
		records[i] = make([]byte, 1+r.IntN(length))
		for j := range records[i] {
			records[i][j] = byte(r.UintN(256) & r.UintN(256)) // NUL is frequent
		}
	}
	return records
}

func newSorter(t *testing.T, directory string) *sorter.Sorter {
	t.Helper()
	s, err := sorter.New(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Records are returned in byte order, and none is lost, even if they exceed the memory. The directory stays
// empty.
func TestSorter(t *testing.T) {
	for _, c := range []struct {
		n, length int
	}{{0, 1}, {1, 10}, {31, 10}, {32, 10}, {33, 10}, {5000, 100}, {20_000, 4000}, {5, 3 << 20}} {
		directory := t.TempDir()
		s := newSorter(t, directory)
		records := randomRecords(c.n, c.length)
		for _, r := range records {
			if err := s.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(records, bytes.Compare)
		for i, want := range records {
			if got, err := s.Next(); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d of %d: %.20q, %v, want %.20q", i, c.n, got, err, want)
			}
		}
		if _, err := s.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("after %d records: %v", c.n, err)
		}
		if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	}
}

// Records that fit into memory need no directory. If one is needed, the error reports what is wrong with it.
func TestWithoutDirectory(t *testing.T) {
	s := newSorter(t, filepath.Join(t.TempDir(), "none"))
	for range 100 {
		if err := s.Add([]byte("a few bytes")); err != nil {
			t.Fatal(err)
		}
	}
	record := []byte(strings.Repeat("x", 1<<20))
	for range 100 {
		if err := s.Add(record); err != nil {
			if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "sorting the input: open ") {
				t.Errorf("got %v", err)
			}
			return
		}
	}
	t.Error("100 MiB were sorted in memory")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := sorter.New(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Add([]byte("a")); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := s.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
