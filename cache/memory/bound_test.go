package memory

import (
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/internal/testserver"
)

// A full store uses at most MaxBytes, including its tables, for any size of its entries.
func TestBoundHasAllOfTheStore(t *testing.T) {
	const maxBytes, queue = 16 << 20, 300 << 10 // write queue of each ristretto instance
	for _, usual := range []int64{0, 4 << 10} {
		for _, length := range []int{200, 2 << 10, 8 << 10} {
			t.Run(strconv.FormatInt(usual, 10)+" "+strconv.Itoa(length), func(t *testing.T) {
				before := testserver.HeapInUse()
				s, err := New(Config[string]{
					MaxBytes: maxBytes, TypicalSize: usual,
					Size: func(text string) int { return len(text) },
				})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				tables := testserver.HeapInUse() - before
				for i := range 2 * maxBytes / length {
					s.Set(entry(strconv.Itoa(i), strings.Repeat("v", length)))
					if i%1000 == 0 {
						s.Each(func(*cache.Entry[string]) bool { return false }) // waits for pending writes
					}
				}
				settled(t, s)
				grown, stats := testserver.HeapInUse()-before, s.Stats()
				t.Logf("%d bytes of tables, %d grown with %d entries, %d counted", tables, grown, stats.Entries,
					stats.Bytes)
				if grown-queue > maxBytes || stats.Bytes < maxBytes*3/4 {
					t.Errorf("%d bytes grown, %d counted, of %d", grown, stats.Bytes, maxBytes)
				}
				if share := (tables - queue) * 100 / maxBytes; usual > 0 && share > 1 {
					t.Errorf("the tables take %d %%", share)
				}
			})
		}
	}
}

// HasRoom is true until a write would evict an entry.
func TestHasRoom(t *testing.T) {
	s, err := New(Config[string]{MaxBytes: 1 << 16, Size: func(text string) int { return len(text) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if !s.HasRoom(1<<15) || s.HasRoom(1<<16) {
		t.Errorf("empty: room for a half: %v, for all: %v", s.HasRoom(1<<15), s.HasRoom(1<<16))
	}
	full, _ := openFull(t)
	if full.HasRoom(1 << 12) {
		t.Errorf("full: %+v", full.Stats())
	}
}
