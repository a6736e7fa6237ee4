package status_test

import (
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/admin/status"
)

// sources are those of a daemon that has done nothing.
func sources(m *metrics.Metrics) status.Sources {
	return status.Sources{
		Now:         func() time.Time { return time.Unix(0, 0) },
		Health:      func() (unready, degraded []string) { return nil, nil },
		Registry:    func() (available, ok bool) { return false, false },
		Certificate: func() (time.Time, bool) { return time.Time{}, false },
		Forms:       m.Forms, FastPath: m.FastPath, Systems: m.Systems,
		Caches: func() []metrics.Cache { return nil },
		Limits: func() []metrics.Limit { return nil },
	}
}

// rows returns those of all tables, by the table and the first cell.
func rows(s status.Sources) map[string][]string {
	all := make(map[string][]string)
	for _, t := range s.Tables() {
		for _, row := range t.Rows {
			all[t.ID+" "+row[0]] = row[1:]
		}
	}
	return all
}

func compare(t *testing.T, got, want map[string][]string) {
	t.Helper()
	for name, cells := range want {
		if row, ok := got[name]; !ok || !slices.Equal(row, cells) {
			t.Errorf("%s: %q, want %q", name, row, cells)
		}
	}
}

func TestNothingDone(t *testing.T) {
	compare(t, rows(sources(metrics.New("1"))), map[string][]string{
		"state urnd": {"ready"}, "state what is wrong": {"nothing is known"}, "state registry": {"there is none"},
		"state certificate": {"there is none"}, "state fast path": {"– of the requests that it has seen"},
		"requests there was none yet": {}, "caches there is none": {}, "systems none was asked yet": {}, "limits there is none": {},
	})
}

func TestTables(t *testing.T) {
	m := metrics.New("1")
	for range 1234 {
		m.FastRequest("path", "I2L", 302, 30*time.Microsecond)
	}
	m.Request("path", "I2L", 404, time.Hour)
	m.Request("path", "I2L", 0, time.Second)
	m.Passed("method")
	m.Query("192.0.2.1:53", "NAPTR", "NOERROR", 700*time.Millisecond)
	m.Query("192.0.2.2:53", "NAPTR", "NOERROR", time.Millisecond)
	m.Query("192.0.2.2:53", "NAPTR", "timeout", time.Millisecond)
	s := sources(m)
	s.Health = func() (unready, degraded []string) { return []string{"it stops"}, []string{"a", "b"} }
	s.Registry = func() (available, ok bool) { return false, true }
	s.Certificate = func() (time.Time, bool) { return time.Unix(0, 0).Add(50 * time.Hour), true }
	s.Caches = func() []metrics.Cache {
		return []metrics.Cache{{Name: "answers", Lookups: map[string]uint64{"hit": 1, "negative": 1, "stale": 1, "miss": 1}, Entries: 4000, Bytes: 3 << 19, Evictions: 5}}
	}
	s.Limits = func() []metrics.Limit { return []metrics.Limit{{Name: "requests", Used: 1, Max: 2}} }
	compare(t, rows(s), map[string][]string{
		"state urnd": {"not ready: it stops"}, "state what is wrong": {"a; b"}, "state registry": {"its store cannot be asked"},
		"state certificate":               {"expires at 1970-01-03T02:00:00Z, in 2 days"},
		"state fast path":                 {"99.9 % of the requests that it has seen"},
		"requests path":                   {"1,236", "0", "1,234", "1", "0", "1", "38 µs", "49 µs"},
		"caches answers":                  {"4", "75.0 %", "4,000", "1.5 MiB", "5"},
		"systems DNS server 192.0.2.1:53": {"1", "0.0 %", "750 ms", "975 ms", "NOERROR 1"},
		"systems DNS server 192.0.2.2:53": {"2", "50.0 %", "500 µs", "950 µs", "NOERROR 1, timeout 1"},
		"limits requests":                 {"1", "2"},
	})
	s.Certificate = func() (time.Time, bool) { return time.Unix(-1, 0), true }
	compare(t, rows(s), map[string][]string{"state certificate": {"expired at 1969-12-31T23:59:59Z"}})
	for _, table := range s.Tables() {
		if table.ID == "systems" && table.Rows[0][0] != "DNS server 192.0.2.1:53" {
			t.Errorf("the slowest is not the first: %q", table.Rows)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Columns) {
				t.Errorf("%s: %d cells for %d columns", table.ID, len(row), len(table.Columns))
			}
		}
	}
}
