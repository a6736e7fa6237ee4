//go:build linux

package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	urnd, both, nginx := newColumn("urnd", 1), newColumn("urnd", 2), newColumn("nginx", 1)
	urnd.version = "1"
	title := rows("redirect")[0].title
	urnd.cells[title] = cell{
		measured: true, rate: 1234567, p99: 1500 * time.Microsecond, cpu: 12345, idle: 0.05,
		others: 0.2,
	}
	both.cells[title] = cell{measured: true, rate: 5, p99: time.Second, cpu: 12999, others: 0.9, shared: true}
	nginx.cells[title] = cell{note: "it has none"}
	nginx.failed = errors.New("two\nlines")
	var b strings.Builder
	tb := table{settings: settings{rows: title, processors: []int{1, 2}}, columns: []*column{urnd, both, nginx}}
	if err := tb.write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| " + title + " | 12.3 | 13.0 | - (1) |\n",
		"| " + title + " | 1,234,567 | - | - (1) |\n",
		"| " + title + " | 1.50 | - | - (1) |\n",
		"| urnd | urnd, 2 processors | nginx |\n",
		"| " + title + " | - | 1.90 | - (1) |\n",
		"processors of the server: 1 and 2.",
		"\n1. it has none\n",
		"\nnginx failed: two lines\n",
		" urnd 1.\n",
		" for 20 % of the time on average, and for 20 % in the worst row.\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

func TestRemarks(t *testing.T) {
	for _, c := range []struct {
		origin              freshness
		t                   tally
		requested, accepted int64
		want                string
	}{
		{never, tally{replies: 100}, 0, 0, ""},
		{never, tally{replies: 100}, 100, 0, "not cached: the origin was asked"},
		{never, tally{replies: 1000}, 1, 0, "0.1 % of the requests reached the origin"},
		{always, tally{replies: 100}, 100, 100, "most requests to the origin open a connection"},
		{once, tally{replies: 100}, 50, 0, "only 50 % of the requests reached the origin"},
		{never, tally{replies: 100, stalled: 3}, 0, 0, "3 connections had no reply all the time"},
		{never, tally{replies: 100, errors: 1, first: errors.New("bad")}, 0, 0, "1 errors, first: bad"},
	} {
		if got := remarks(row{origin: c.origin}, c.t,
			reading{requests: c.requested, accepted: c.accepted}); got != c.want {
			t.Errorf("%v, %+v: %q, want %q", c.origin, c.t, got, c.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	var latencies []uint32
	for i := range uint32(101) {
		latencies = append(latencies, 100-i)
	}
	if got := percentile(latencies, 99); got != 99*time.Microsecond {
		t.Error(got)
	}
	if got := percentile(nil, 99); got != 0 {
		t.Error(got)
	}
}
