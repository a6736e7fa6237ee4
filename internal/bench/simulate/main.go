// Command simulate simulates requests for names with a Zipf distribution through urnd's answer cache and its
// cache of DNS record sets, on one and on several instances, with and without a second-level cache. It prints a
// table of hit ratios and loads. Time is simulated by a clock of the caches. The requests are identical in each
// run; eviction from full memory runs in the background, so that the third digit of a hit ratio may differ. The
// second level is a map with LRU eviction, like Valkey. "make simulate" runs it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	var p plan
	flag.IntVar(&p.names, "names", 200_000, "names that are asked for")
	flag.IntVar(&p.requests, "requests", 400_000,
		"requests to all instances; the first half fills the caches, and is not counted")
	flag.Float64Var(&p.rate, "rate", 20, "requests a second, of simulated time, to all instances")
	flag.IntVar(&p.memory, "memory", 20_000, "answers that the memory of an instance has room for, about")
	flag.IntVar(&p.shared, "shared", 200_000, "entries that the second level has room for, of each kind")
	flag.IntVar(&p.zones, "zones", 2_000, "record sets that all names are found by")
	flag.DurationVar(&p.recordTTL, "record-ttl", time.Hour, "TTL of record sets")
	flag.DurationVar(&p.negativeTTL, "negative-ttl", 5*time.Minute, "TTL of the answer that a name does not exist")
	flag.Float64Var(&p.negative, "negative", 0.05, "part of the names that do not exist")
	flag.Uint64Var(&p.seed, "seed", 1, "")
	flag.Func("ttls", "TTLs of names and their parts (default 10m:0.5,1h:0.3,24h:0.2)", func(text string) (err error) {
		p.ttls, err = parseTTLs(text)
		return err
	})
	exponents := flag.String("exponents", "0.8,0.9,1.0,1.1", "of Zipf's law")
	instances := flag.String("instances", "1,3,10", "")
	flag.Parse()
	if p.ttls == nil {
		p.ttls = []part{{10 * time.Minute, 0.5}, {time.Hour, 0.3}, {24 * time.Hour, 0.2}}
	}
	if err := run(p, *exponents, *instances, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

// parseTTLs parses a list such as "10m:0.5,1h:0.5".
func parseTTLs(text string) (all []part, err error) {
	for _, item := range strings.Split(text, ",") {
		ttl, of, _ := strings.Cut(item, ":")
		var p part
		if p.ttl, err = time.ParseDuration(ttl); err != nil {
			return nil, err
		}
		if p.of, err = strconv.ParseFloat(of, 64); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// run writes a table with a row for each simulation.
func run(p plan, exponents, instances string, out io.Writer) error {
	_, _ = fmt.Fprintln(out,
		"| Zipf | instances | balance | second level | hits in memory | in the second level | loads a second | "+
			"queries to the DNS a second |")
	_, _ = fmt.Fprintln(out, "|---:|---:|---|---|---:|---:|---:|---:|")
	for _, exponent := range strings.Split(exponents, ",") {
		for _, many := range strings.Split(instances, ",") {
			var err error
			if p.exponent, err = strconv.ParseFloat(exponent, 64); err != nil {
				return err
			}
			if p.instances, err = strconv.Atoi(many); err != nil {
				return err
			}
			for _, p.sharded = range []bool{false, true} {
				if p.sharded && p.instances == 1 {
					continue
				}
				for _, p.second = range []bool{false, true} {
					o, err := p.play()
					if err != nil {
						return err
					}
					_, _ = fmt.Fprintf(out, "| %s | %d | %s | %s | %.3f | %.3f | %.1f | %.2f |\n", exponent,
						p.instances,
						word(p.instances == 1, "-", word(p.sharded, "by name", "any")), word(p.second, "yes", "no"),
						o.memory, o.shared, o.loads, o.queries)
				}
			}
		}
	}
	return nil
}

func word(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
