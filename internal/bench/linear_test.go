package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/uri"
)

// work is an operation whose time must be proportional to its input. prepare creates an input of about size
// bytes; it returns the operation to be timed and the number of bytes it reads.
type work struct {
	name    string
	prepare func(tb testing.TB, size int) (run func() error, length int)
}

func repeat(pattern string, size int) string { return strings.Repeat(pattern, size/len(pattern)) }

func works() []work {
	var all []work
	patterns := []sample{{"dots", "../"}, {"percent", "%41"}, {"slashes", "//"}}
	for _, p := range patterns {
		all = append(all, work{"normalize/" + p.name, normalize(p.text)})
	}
	for i, profile := range []string{"RFC3986", "Draft", "DraftRemove"} {
		all = append(all, work{"surplus/" + profile, surplus(uri.Profile(i))})
	}
	for i, profile := range []string{"RFC3986", "Draft", "DraftRemove", "DraftRefuse"} {
		all = append(all, work{"climb/" + profile, climb(uri.Profile(i))})
	}
	for _, p := range patterns {
		all = append(all, work{"extract/" + p.name, extract("http://a/", p.text, uri.ExtractOptions{})})
	}
	return append(all,
		work{"extract/open", extract("", "<", uri.ExtractOptions{})},
		work{"extract/no-host", extract("", "http://(", uri.ExtractOptions{})},
		work{"extract/labels", extract("", "a.", uri.ExtractOptions{Abbreviated: true})},
	)
}

// restarts are texts without delimiters in which URIs end nevertheless, so that extraction restarts within text
// that was examined before. They are not benchmarks: if extraction is not linear, 1 MiB takes most of a minute.
func restarts() []work {
	var all []work
	for _, p := range []sample{{"bracket", "http://a/["}, {"fragment", "http://a/#"}, {"too-long", "http://a/)"}} {
		all = append(all, work{"restart/" + p.name, extract("", p.text, uri.ExtractOptions{})})
	}
	return all
}

func normalize(pattern string) func(testing.TB, int) (func() error, int) {
	return func(_ testing.TB, size int) (func() error, int) {
		text := "http://a/" + repeat(pattern, size)
		return func() error {
			u, err := uri.Parse(text)
			_ = u.Normalize()
			return err
		}, len(text)
	}
}

// surplus resolves a reference with far more ".." segments than its base has, which DraftRefuse does not
// permit.
func surplus(p uri.Profile) func(testing.TB, int) (func() error, int) {
	return func(tb testing.TB, size int) (func() error, int) {
		return resolve(tb, "http://a/b/c/d;p?q", repeat("../", size), p)
	}
}

// climb resolves a reference with as many ".." segments as its base has.
func climb(p uri.Profile) func(testing.TB, int) (func() error, int) {
	return func(tb testing.TB, size int) (func() error, int) {
		steps := size / len("x/../")
		return resolve(tb, "http://a/"+strings.Repeat("x/", steps), strings.Repeat("../", steps), p)
	}
}

func resolve(tb testing.TB, base, ref string, p uri.Profile) (func() error, int) {
	tb.Helper()
	u, err := uri.Parse(base)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := uri.ParseReference(ref)
	if err != nil {
		tb.Fatal(err)
	}
	return func() error {
		_, err := u.Resolve(r, p)
		return err
	}, len(base) + len(ref)
}

func extract(start, pattern string, o uri.ExtractOptions) func(testing.TB, int) (func() error, int) {
	return func(_ testing.TB, size int) (func() error, int) {
		text := start + repeat(pattern, size)
		return func() error {
			_ = uri.Extract(text, o)
			return nil
		}, len(text)
	}
}

func BenchmarkLinear(b *testing.B) {
	for _, w := range works() {
		for _, size := range []int{1 << 10, 32 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dKiB", w.name, size>>10), func(b *testing.B) {
				run, length := w.prepare(b, size)
				b.SetBytes(int64(length))
				for b.Loop() {
					if err := run(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(length), "ns/B")
			})
		}
	}
}

// TestLinear doubles the length of a text up to 1 MiB. An operation with quadratic time takes 32 times as long
// per byte for the longest text as for the shortest; caches and the garbage collector of a busy machine account
// for less than the tolerance. An operation that fails is not continued, because its next size could take
// minutes.
func TestLinear(t *testing.T) {
	const tolerance = 6
	for _, w := range slices.Concat(works(), restarts()) {
		t.Run(w.name, func(t *testing.T) {
			const small = 32 << 10
			first := perByte(t, w, small, 0)
			for size := 2 * small; size <= 1<<20; size *= 2 {
				if took := perByte(t, w, size, tolerance*first); took > tolerance*first {
					t.Fatalf("at %d KiB a byte takes %.1f ns, at %d KiB %.1f ns", size>>10, took, small>>10, first)
				}
			}
		})
	}
}

// perByte returns the time per byte in nanoseconds: the best of several runs, or of the first if that is at
// most enough. Noise only increases times and is short, so a run of seconds is not repeated.
func perByte(t *testing.T, w work, size int, enough float64) float64 {
	t.Helper()
	const runs = 10
	run, length := w.prepare(t, size)
	best := time.Duration(math.MaxInt64)
	for range runs {
		start := time.Now()
		if err := run(); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
		if float64(best.Nanoseconds())/float64(length) <= enough || best > time.Second {
			break
		}
	}
	return float64(best.Nanoseconds()) / float64(length)
}
