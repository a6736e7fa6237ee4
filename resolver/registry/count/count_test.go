package count_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/count"
)

func day(text string) time.Time {
	t, err := time.Parse("2006-01-02", text)
	if err != nil {
		panic(err)
	}
	return t
}

func putCounts(t *testing.T, s registry.Store, counts map[string]string) {
	t.Helper()
	var all []registry.ResolutionCount
	for key, value := range counts {
		var r registry.ResolutionCount
		if _, err := fmt.Sscan(key+" "+value, &r.Name, &r.Period, &r.People, &r.Bots); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if err := s.Write(t.Context(), func(tx registry.WriteTx) error { return tx.AddResolutions(all) }); err != nil {
		t.Fatal(err)
	}
}

func TestCountsOf(t *testing.T) {
	s := stores(t)()
	putCounts(t, s, map[string]string{
		"urn:a:1 2029-12": "100 7", "urn:a:1 2031-05-01": "1 0", "urn:a:1 2031-05-02": "2 5",
		"urn:a:1 2031-06-01": "3 0", "urn:a:12 2031-05-01": "9 9", "urn:a:1- 2031-05-01": "9 9",
	})
	for _, tt := range []struct {
		from, to time.Time
		want     string
	}{
		{want: "2029-12 100/7, 2031-05-01 1/0, 2031-05-02 2/5, 2031-06-01 3/0"},
		{from: day("2031-05-02"), want: "2031-05-02 2/5, 2031-06-01 3/0"},
		{to: day("2031-05-01"), want: "2029-12 100/7, 2031-05-01 1/0"},
		{from: day("2029-12-31"), to: day("2031-05-01"), want: "2029-12 100/7, 2031-05-01 1/0"},
		{from: day("2030-01-01"), to: day("2031-04-30"), want: ""},
	} {
		if got := countsOf(t, s, "urn:a:1", tt.from, tt.to); got != tt.want {
			t.Errorf("from %v to %v: %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}

func TestTopCounts(t *testing.T) {
	s := stores(t)()
	counts := make(map[string]string)
	for i := range 1200 {
		counts[fmt.Sprintf("urn:a:%04d 2031-05-01", i)] = fmt.Sprintf("%d 1", i%100)
		counts[fmt.Sprintf("urn:a:%04d 2031-05-02", i)] = "1 0"
	}
	counts["urn:a:0007 2031-05-03"] = "1000 5"
	counts["urn:a:0008 2030-01"] = "2000 0"
	putCounts(t, s, counts)
	for _, tt := range []struct {
		from, to  time.Time
		want, sum string
	}{
		{want: "[{urn:a:0008 {2009 1}} {urn:a:0007 {1008 6}}]", sum: "{63600 1205}"},
		{from: day("2031-05-01"), want: "[{urn:a:0007 {1008 6}} {urn:a:0099 {100 1}}]", sum: "{61600 1205}"},
		{
			from: day("2031-05-01"), to: day("2031-05-01"), want: "[{urn:a:0099 {99 1}} {urn:a:0199 {99 1}}]",
			sum: "{59400 1200}",
		},
		{from: day("2032-05-01"), want: "[]", sum: "{0 0}"},
	} {
		top, sum, err := count.Top(t.Context(), s, tt.from, tt.to, 2)
		if fmt.Sprint(top) != tt.want || fmt.Sprint(sum) != tt.sum || err != nil {
			t.Errorf("from %v to %v: %v of %v, %v; want %s of %s", tt.from, tt.to, top, sum, err, tt.want, tt.sum)
		}
	}
}

// A name that is resolved every day has a bounded number of counts, without losing any resolution.
func TestCountsAreFolded(t *testing.T) {
	s := stores(t)()
	days, most := 0, 0
	for at := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC); at.Year() < 2032; at = at.AddDate(0, 0, 3) {
		c := startCounter(t, s, at)
		c.Add("urn:a:1", false)
		c.Add("urn:a:1", true)
		c.end()
		days++
		most = max(most, strings.Count(allOf(t, s, "urn:a:1"), "/"))
	}
	if want := 11 + 14*11; most > want { // months, and every third day of 14 months
		t.Errorf("there were %d counts, and should be at most %d", most, want)
	}
	top, sum, err := count.Top(t.Context(), s, time.Time{}, time.Time{}, 10)
	if err != nil || len(top) != 1 || sum != (registry.Tally{People: int64(days), Bots: int64(days)}) {
		t.Errorf("counted %v, %+v, %v; want %d days", top, sum, err, days)
	}
	got := countsOf(t, s, "urn:a:1", day("2030-10-01"), day("2030-11-04"))
	if got != "2030-10 11/11, 2030-11-03 1/1" {
		t.Errorf("counted %q", got)
	}
	if all := countsOf(t, s, registry.AllNames, day("2030-10-01"), day("2030-11-04")); all != got {
		t.Errorf("counted %q of all names", all)
	}
}
