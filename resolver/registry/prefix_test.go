package registry

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// floorOf returns a Floor function over sorted prefixes that counts its calls.
func floorOf(prefixes []string, calls *int) func(string) (Entry, error) {
	return func(text string) (Entry, error) {
		*calls++
		i, exact := slices.BinarySearch(prefixes, text)
		if exact {
			i++
		}
		if i == 0 {
			return Entry{}, nil
		}
		return Entry{Key: Prefix(prefixes[i-1]), Version: 1}, nil
	}
}

// LongestPrefix finds the longest prefix for any set of prefixes, with at most one call more than the name has
// delimiters.
func TestLongestPrefix(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		var b strings.Builder
		for range 1 + random.IntN(6) {
			b.WriteByte("ab:/-"[random.IntN(5)])
		}
		return b.String()
	}
	for range 20_000 {
		var prefixes []string
		for range random.IntN(12) {
			if prefix := word(); IsDelimiter(prefix[len(prefix)-1]) {
				prefixes = append(prefixes, prefix)
			}
		}
		slices.Sort(prefixes)
		prefixes = slices.Compact(prefixes)
		name := word() + word()
		want := ""
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) && len(prefix) > len(want) {
				want = prefix
			}
		}
		calls := 0
		got, err := LongestPrefix(floorOf(prefixes, &calls), name)
		if err != nil || got.Name != want {
			t.Fatalf("of %q for %q: %q, %v; want %q", prefixes, name, got.Name, err, want)
		}
		segments := 1
		for i := range len(name) {
			if IsDelimiter(name[i]) {
				segments++
			}
		}
		if calls > segments {
			t.Fatalf("of %q for %q: %d questions, and it has %d segments", prefixes, name, calls, segments)
		}
	}
}
