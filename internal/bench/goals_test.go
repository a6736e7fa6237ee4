package bench

import (
	"testing"
	"time"
)

// goal is the time limit of urnd for a text.
type goal struct {
	name       string
	contenders []contender
	text       string
	allocs     float64
	parts      map[string]float64 // limit relative to the time of another package, by its name
}

func goals(b *testing.B) []goal {
	urns, urls := keys(b), normalForms()
	// urnd performs the complete work of a request: it parses either kind of identifier, validates it, and
	// creates a query with its key.
	urnParts := map[string]float64{"go-urn": 1. / 3}
	checkedParts := map[string]float64{"go-urn": 1. / 2} // checked by the grammar of its namespace
	changedParts := map[string]float64{"go-urn": 1. / 2} // a new string is allocated
	urlParts := map[string]float64{"net-url": 1. / 2, "purell": 1. / 6}
	return []goal{
		{"changed-urn", urns, "URN:EXAMPLE:a%2cb:c", 1, changedParts},
		{"ietf", urns, "urn:ietf:rfc:2648", 0, checkedParts},
		{"urn", urns, "urn:example:a123,z456", 0, urnParts},
		{"url", urls, "HTTP://www.Example.COM:80/a/./b/../c/%7Euser/?q=1&b=2#frag", 1, urlParts},
		{
			"canonical-url", urls, "http://www.example.com/a/c/~user/?q=1&b=2#frag", 0,
			map[string]float64{"net-url": 1, "purell": 1. / 6},
		},
	}
}

// slack is the tolerance for the variation of a ratio on a shared machine.
const slack = 1.1

// BenchmarkGoals fails if a goal is missed by more than the slack. It reports for each text the time of each
// contender, and the ratio of urnd to it.
func BenchmarkGoals(b *testing.B) {
	for _, g := range goals(b) {
		b.Run(g.name, func(b *testing.B) {
			runs := prepare(g)
			var times []float64
			for b.Loop() {
				times = inTurns(b, runs)
			}
			allocs := testing.AllocsPerRun(100, func() { _, _ = runs[0]() })
			b.ReportMetric(0, "ns/op") // the time of the comparison is meaningless
			b.ReportMetric(times[0], "ns-urnd")
			b.ReportMetric(allocs, "allocs-urnd")
			for i, c := range g.contenders {
				part, ok := g.parts[c.name]
				if !ok {
					continue
				}
				ratio := times[0] / times[i]
				b.ReportMetric(times[i], "ns-"+c.name)
				b.ReportMetric(ratio, "of-"+c.name)
				if ratio > part*slack {
					b.Errorf("%.1f ns are %.3f of the %.1f ns of %s, and should be at most %.3f", times[0], ratio,
						times[i], c.name, part)
				}
			}
			if allocs > g.allocs {
				b.Errorf("%.0f allocations, and at most %.0f should be", allocs, g.allocs)
			}
		})
	}
}

func prepare(g goal) []func() (string, error) {
	var runs []func() (string, error)
	for _, c := range g.contenders {
		runs = append(runs, c.prepare(g.text))
	}
	return runs
}

// inTurns returns the mean time of each run in nanoseconds, including garbage collection. The runs alternate:
// variations of the machine last longer than a turn, and would distort a ratio if each was measured separately.
func inTurns(b *testing.B, runs []func() (string, error)) []float64 {
	const turns, times = 100, 10_000
	mean := make([]float64, len(runs))
	for range turns {
		for i, run := range runs {
			start := time.Now()
			for range times {
				if _, err := run(); err != nil {
					b.Fatal(err)
				}
			}
			mean[i] += float64(time.Since(start).Nanoseconds()) / times / turns
		}
	}
	return mean
}
