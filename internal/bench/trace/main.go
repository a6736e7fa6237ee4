// Command trace compares the hit ratio of urnd's memory cache of HTTP responses with known replacement
// policies. It generates traces from a seed, so that each run has the same requests, replays them, and prints a
// table of hit ratios. The policies only count the sizes of objects, while urnd counts all memory of a
// response. "make bench-trace" runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	budget := flag.Int64("mib", 256, "memory of the cache, in MiB")
	flag.Parse()
	if err := run(context.Background(), *budget<<20, shapes(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "trace:", err)
		os.Exit(1)
	}
}

// shapes are the traces of the command. With these sizes, 256 MiB hold about a tenth of all bytes.
func shapes() []shape {
	zipf := shape{
		name: "Zipf 0.8", seed: 1, requests: 400_000, names: 200_000, exponent: 0.8,
		median: 10 << 10, sigma: 0.8, least: 128, most: 4 << 20,
	}
	scans := zipf
	scans.name, scans.scanEvery, scans.scanLength = "Zipf 0.8 with scans", 30_000, 10_000
	steep := zipf
	steep.name, steep.exponent = "Zipf 1.0", 1
	small := zipf
	small.name, small.median, small.names = "Zipf 0.8, small objects", 1<<10, 1_000_000
	uneven := zipf
	uneven.name, uneven.median, uneven.sigma = "Zipf 0.8, uneven sizes", 4<<10, 1.5
	return []shape{zipf, scans, steep, small, uneven}
}

// run writes a table with a row for each trace, and hit ratios by object and by byte.
func run(ctx context.Context, budget int64, shapes []shape, out io.Writer) error {
	policies := []struct {
		name  string
		worth priority
	}{{"LRU", lru}, {"GDSF", gdsf}, {"perfect LFU", lfu}, {"Belady", belady}}
	_, _ = fmt.Fprint(out, "| trace | urnd |")
	for _, p := range policies {
		_, _ = fmt.Fprintf(out, " %s |", p.name)
	}
	_, _ = fmt.Fprintln(out, "\n|---|---:|---:|---:|---:|---:|")
	for _, s := range shapes {
		t := s.make()
		own, err := t.replayUrnd(ctx, budget)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "| %s | %s |", t.name, own)
		for _, p := range policies {
			_, _ = fmt.Fprintf(out, " %s |", t.replay(budget, p.worth))
		}
		_, _ = fmt.Fprintln(out)
	}
	return nil
}

// String returns both ratios.
func (r ratios) String() string { return fmt.Sprintf("%.3f / %.3f", r.objects, r.bytes) }
