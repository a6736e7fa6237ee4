package service

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// A page has the requested number of entries, or as many as fit, and reports whether there are more.
func TestEntriesUpTo(t *testing.T) {
	for _, tt := range []struct {
		name               string
		there, limit, size int
		want               int
		more               bool
	}{
		{"none", 0, 10, 0, 0, false},
		{"fewer", 9, 10, 0, 9, false},
		{"just so many", 10, 10, 0, 10, false},
		{"one more", 11, 10, 0, 10, true},
		{"several reads", 1000, 120, 0, 120, true},
		{"just several reads", 2 * entriesAtOnce, 1000, 0, 2 * entriesAtOnce, false},
		{"large ones", 1000, 1000, 1 << 20, 8, true},
		{"one that is larger than a page", 2, 1000, 2 * pageBytes, 1, true},
		{"the last one is large", 1, 1000, 2 * pageBytes, 1, false},
	} {
		note, most := strings.Repeat("x", tt.size), 0
		got, more, err := entriesUpTo(tt.limit, func(last *registry.Entry, n int) (page []registry.Entry, _ error) {
			first := registry.Seq(1)
			if last != nil {
				first = last.Seq + 1
			}
			for seq := first; len(page) < n && int(seq) <= tt.there; seq++ {
				page = append(page, registry.Entry{Seq: seq, Record: registry.Record{}, Note: note})
			}
			most = max(most, len(page))
			return page, nil
		})
		if err != nil || len(got) != tt.want || more != tt.more || most > entriesAtOnce {
			t.Errorf("%s: %d, %v, %v, %d at once; want %d, %v", tt.name, len(got), more, err, most, tt.want, tt.more)
		}
		for i := range got {
			if int(got[i].Seq) != i+1 {
				t.Fatalf("%s: the %d. is number %d", tt.name, i, got[i].Seq)
			}
		}
	}
}
