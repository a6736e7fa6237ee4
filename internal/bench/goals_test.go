package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// goal is how little urnd may take for a text.
type goal struct {
	contenders []contender
	text       string
	allocs     float64
	parts      map[string]float64 // of the time of a peer, by its name
}

func goals(b *testing.B) []goal {
	urns, urls := keys(b), normalForms()
	urnParts := map[string]float64{"go-urn": 1. / 4}
	// A name that changes is a new string: to allocate it takes most of a
	// quarter of go-urn's time, whatever else is done.
	changedParts := map[string]float64{"go-urn": 1. / 2}
	urlParts := map[string]float64{"net-url": 1. / 2, "purell": 1. / 6}
	return []goal{
		{urns, "URN:EXAMPLE:a%2cb:c", 1, changedParts},
		{urns, "urn:ietf:rfc:2648", 0, urnParts},
		{urns, "urn:example:a123,z456", 0, urnParts},
		{urls, "HTTP://www.Example.COM:80/a/./b/../c/%7Euser/?q=1&b=2#frag", 1, urlParts},
		{urls, "http://www.example.com/a/c/~user/?q=1&b=2#frag", 0, map[string]float64{"net-url": 1, "purell": 1. / 6}},
	}
}

// BenchmarkGoals fails where a goal is missed. Its results are for each peer the
// worst part of its time, and the most allocations, that urnd took.
func BenchmarkGoals(b *testing.B) {
	for b.Loop() {
		var table strings.Builder
		worst := map[string]float64{}
		var most float64
		met := true
		for _, g := range goals(b) {
			runs := prepare(g)
			times := inTurns(b, runs)
			allocs := testing.AllocsPerRun(100, func() { _, _ = runs[0]() })
			most = max(most, allocs)
			met = met && allocs <= g.allocs
			fmt.Fprintf(&table, "\n%s\n", g.text)
			fmt.Fprintf(&table, "  %-12s %8.1f ns  %2.0f allocs (goal %.0f)\n", "urnd", times[0], allocs, g.allocs)
			for i, c := range g.contenders {
				part, ok := g.parts[c.name]
				if !ok {
					continue
				}
				ratio := times[0] / times[i]
				worst[c.name] = max(worst[c.name], ratio)
				met = met && ratio <= part
				allocs := testing.AllocsPerRun(100, func() { _, _ = runs[i]() })
				fmt.Fprintf(&table, "  %-12s %8.1f ns  %2.0f allocs  ratio %.3f (goal %.3f)\n", c.name, times[i], allocs, ratio, part)
			}
		}
		b.Log(table.String())
		for name, ratio := range worst {
			b.ReportMetric(ratio, "of-"+name)
		}
		b.ReportMetric(most, "most-allocs")
		b.ReportMetric(0, "ns/op") // the time of the comparison says nothing
		if !met {
			b.Fatal("a goal is missed")
		}
	}
}

func prepare(g goal) []func() (string, error) {
	var runs []func() (string, error)
	for _, c := range g.contenders {
		runs = append(runs, c.prepare(g.text))
	}
	return runs
}

// inTurns returns the mean time of each run, in nanoseconds, the collection of its
// garbage included. They take turns: the moods of a machine last longer than a
// turn, and would go into a ratio if each was measured to its end.
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
