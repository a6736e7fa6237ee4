package ftp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// BenchmarkListing parses a listing of 1,000 entries, and converts it to items.
func BenchmarkListing(b *testing.B) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	limits := scheme.Limits{Line: 4096, Entries: 10_000, Bytes: 1 << 24}
	for _, bench := range []struct {
		name, line string // with the number of the entry
		parse      func(string) (entry, bool, bool)
	}{
		{
			"MLSD",
			"type=file;size=%[1]d;modify=20260101123456;UNIX.mode=0644;UNIX.owner=0;unique=fd00g%[1]x; " +
				"file-%[1]d.txt\r\n", parseMLSD,
		},
		{
			"LIST of this year", "-rw-r--r--   1 ftp      ftp      %10d Jan 12 10:15 file-%[1]d.txt\r\n",
			func(line string) (entry, bool, bool) { return parseList(line, now) },
		},
		{
			"LIST", "-rw-r--r--   1 ftp      ftp      %10d Jan 12  2009 file-%[1]d.txt\r\n",
			func(line string) (entry, bool, bool) { return parseList(line, now) },
		},
		{
			"LIST of DOS", "01-12-09  10:15AM  %20d file-%[1]d.txt\r\n",
			func(line string) (entry, bool, bool) { return parseList(line, now) },
		},
	} {
		var lines strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&lines, bench.line, i*i)
		}
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				found, err := readLines(strings.NewReader(lines.String()), limits, bench.parse)
				if err != nil || len(found.entries) != 1000 {
					b.Fatalf("%d entries, %v", len(found.entries), err)
				}
				sortEntries(found.entries)
				for _, e := range found.entries {
					if item := e.item("ftp://h.example/pub/"); item.URI == "" {
						b.Fatalf("%+v", item)
					}
				}
			}
		})
	}
}
