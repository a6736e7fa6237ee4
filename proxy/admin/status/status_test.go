package status_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"html"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/proxy/pages"
)

// sources returns the sources of an idle daemon.
func sources(m *metrics.Metrics) status.Sources {
	return status.Sources{
		Now:          func() time.Time { return time.Unix(0, 0) },
		Health:       func() (unready, degraded []string) { return nil, nil },
		Certificates: func() []*x509.Certificate { return nil }, Warnings: func() []string { return nil },
		Failing: func() []status.Failing { return nil }, Stores: func() []status.Store { return nil },
		Errors:   func() []status.Record { return nil },
		Servers:  func() []status.Server { return nil },
		Registry: func() *status.Registry { return nil }, Instances: func() []status.Instance { return nil },
		Forms: m.Forms, Systems: m.Systems,
		Caches: func() []metrics.Cache { return nil },
		Limits: func() []metrics.Limit { return nil },
	}
}

// english returns the writer in English.
func english() pages.Writer { return pages.New(pages.Site{}).In(pages.English) }

// plain returns the texts of cells.
func plain(cells []pages.Content) (texts []string) {
	tags := regexp.MustCompile(`<[^>]*>`)
	for _, cell := range cells {
		texts = append(texts, html.UnescapeString(tags.ReplaceAllString(string(cell), "")))
	}
	return texts
}

// rows returns the rows of all tables, by the table and the first cell.
func rows(s status.Sources) map[string][]string {
	all := make(map[string][]string)
	for _, t := range s.State(english()).Tables {
		for _, row := range t.Rows {
			cells := plain(row.Cells)
			all[t.ID+" "+cells[0]] = append(cells[1:], strings.Fields(string(row.Severity))...)
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
	s := sources(metrics.New("1"))
	state := s.State(english())
	if state.Severity != status.OK || len(state.Reasons) != 0 {
		t.Errorf("%s, %s, %q", state.Severity, state.Verdict, state.Reasons)
	}
	for _, t2 := range state.Tables {
		if len(t2.Rows) > 0 || t2.None == "" {
			t.Errorf("%+v", t2)
		}
	}
}

func TestVerdict(t *testing.T) {
	s := sources(metrics.New("1"))
	for _, tt := range []struct {
		unready, degraded int
		severity          status.Severity
		reasons           int
	}{{0, 0, status.OK, 0}, {0, 2, status.Warning, 2}, {1, 2, status.Critical, 3}, {0, 100, status.Warning, 11}} {
		s.Health = func() (unready, degraded []string) {
			return slices.Repeat([]string{"it stops"}, tt.unready),
				slices.Repeat([]string{strings.Repeat("ä", 500)}, tt.degraded)
		}
		state := s.State(english())
		if state.Severity != tt.severity || len(state.Reasons) != tt.reasons {
			t.Errorf("%+v: %s, %q", tt, state.Severity, state.Reasons)
		}
		for _, reason := range state.Reasons {
			if len(reason) > 265 || !utf8.ValidString(string(reason)) {
				t.Errorf("%d bytes: %q", len(reason), reason)
			}
		}
	}
}

// busySources returns the sources of a daemon with rows in each table.
func busySources() status.Sources {
	m := metrics.New("1")
	for range 1234 {
		m.Request("path", "I2L", 302, 30*time.Microsecond)
	}
	m.Request("path", "I2L", 404, time.Hour)
	m.Request("path", "I2L", 0, time.Second)
	m.Query("192.0.2.1:53", "NAPTR", "NOERROR", 700*time.Millisecond)
	m.Query("192.0.2.2:53", "NAPTR", "NOERROR", time.Millisecond)
	m.Query("192.0.2.2:53", "NAPTR", "timeout", time.Millisecond)
	m.Query("192.0.2.3:53", "NAPTR", "error", time.Microsecond)
	s := sources(m)
	at := time.Unix(0, 0)
	s.Certificates = func() []*x509.Certificate {
		return []*x509.Certificate{{
			Subject: pkix.Name{CommonName: "urn.example"}, Issuer: pkix.Name{Organization: []string{"CA"}},
			DNSNames: []string{"urn.example", "a.example"}, IPAddresses: []net.IP{net.IPv4(192, 0, 2, 1)},
			NotAfter: at.Add(50 * time.Hour),
		}}
	}
	s.Caches = func() []metrics.Cache {
		return []metrics.Cache{{
			Name:    "answers",
			Lookups: map[string]uint64{"hit": 1, "negative": 1, "stale": 1, "miss": 1}, Entries: 4000, Bytes: 3 << 19,
			Evictions: 5,
		}}
	}
	s.Limits = func() []metrics.Limit {
		return []metrics.Limit{{Name: "requests", Used: 1, Max: 2}, {Name: "fetches", Used: 2, Max: 2}}
	}
	s.Failing = func() []status.Failing {
		return []status.Failing{
			{
				Server: status.Server{Name: "http://a.example", Role: status.RoleOrigin},
				Reason: status.ReasonUnconnectable, Severity: status.Warning,
			},
			{
				Server: status.Server{Name: "192.0.2.1:53", Role: status.RoleDNS}, Reason: status.ReasonSilent,
				Until: at.Add(3500 * time.Millisecond), Severity: status.Critical,
			},
			{
				Server: status.Server{Name: "http://r.example", Role: status.RoleTHTTP}, Detail: "dial tcp: <refused>",
				Severity: status.Warning,
			},
			{
				Server: status.Server{Role: status.RoleDeadTargets}, Count: 1, Reason: status.ReasonDead,
				Severity: status.Warning,
			},
		}
	}
	s.Servers = func() []status.Server {
		return []status.Server{
			{Name: "http://b.example", Role: status.RoleSite},
			{Name: "http://a.example", Role: status.RoleSite},
			{Name: "192.0.2.1:53", Role: status.RoleDNS},
			{Name: "192.0.2.9:427", Role: status.RoleSLP},
			{Name: "192.0.2.3:53", Role: status.RoleDNS},
		}
	}
	s.Stores = func() []status.Store {
		return []status.Store{
			{
				Kind: status.StoreRegistry, Location: "sqlite:a.db", Content: status.ContentAnswers, Size: 1 << 20,
				Free: 1 << 40,
			},
			{
				Kind: status.StoreDisk, Location: "/b", Content: status.ContentDamaged,
				Values: []any{"Failures", 1, "Damaged", uint64(2)}, Size: -1, Limit: 1 << 30, Free: 1 << 20,
			},
			{Kind: status.StoreLog, Location: "/c", Content: status.ContentUsed, Size: 0, Free: 1 << 29},
			{
				Kind: status.StoreShared, Location: "redis://c", Content: status.ContentStandalone,
				Values: []any{"Caches", "answers"}, Severity: status.Critical, Size: -1, Free: -1,
			},
		}
	}
	s.Started = at.Add(-50 * time.Hour)
	s.Warnings = func() []string { return []string{"urnd.yaml:1:2: listen.tls is not used"} }
	s.Registry = func() *status.Registry {
		return &status.Registry{
			Changes: 12345, Active: 7, Reserved: 6, Withdrawn: 5, Aliases: 4, Targets: 3,
			Prefixes: 2,
		}
	}
	s.Instances = func() []status.Instance {
		return []status.Instance{
			{Name: "a:80", Role: status.InstanceAnswers},
			{Name: "b", Role: status.InstanceChecks, Until: at},
			{Role: status.InstanceShares, Cache: "answers"},
			{Role: status.InstanceStandalone, Cache: "records"},
		}
	}
	s.Errors = func() []status.Record {
		return []status.Record{
			{Error: true, Last: at.Add(-time.Second), Message: "broken", Attributes: "a=b", Count: 1},
			{Last: at.Add(-61 * time.Minute), Message: "odd", Attributes: "c=d", Count: 3, Others: 4000},
			{Last: at.Add(-48 * time.Hour), Message: "long ago", Count: 1},
			{Last: at.Add(-2 * time.Minute), Message: "lately", Count: 1},
		}
	}
	return s
}

func TestTables(t *testing.T) {
	s := busySources()
	compare(t, rows(s), map[string][]string{
		"certificate names":               {"urn.example, a.example, 192.0.2.1"},
		"certificate subject":             {"CN=urn.example"},
		"certificate issuer":              {"O=CA"},
		"certificate expires":             {"1970-01-03 02:00:00, in 2 days", "critical"},
		"requests path":                   {"1,236", "0", "1,234", "1", "0", "1", "38 µs", "49 µs"},
		"caches answers":                  {"4", "75.0 %", "4,000", "1.5 MiB", "5"},
		"systems DNS server 192.0.2.1:53": {"1", "0.0 %", "750 ms", "975 ms", "NOERROR 1"},
		"systems DNS server 192.0.2.2:53": {"2", "50.0 %", "500 µs", "950 µs", "NOERROR 1, timeout 1"},
		"limits requests":                 {"1", "2"},
		"limits fetches":                  {"2", "2", "critical"},
		"warnings certificate":            {"expiry: 1970-01-03 02:00:00, in 2 days", "critical"},
		"warnings responses on disk":      {"low free space: 1.0 MiB", "critical"},
		"warnings access log":             {"low free space: 512.0 MiB", "warning"},
		"warnings configuration":          {"urnd.yaml:1:2: listen.tls is not used", "warning"},
		"registry active names":           {"7"},
		"registry versions of all":        {"12,345"},
		"machines a:80":                   {"this instance: serves requests", "–"},
		"machines other instances":        {"share answers with this instance", "–"},
		"machines none":                   {"shares records with this instance", "–"},
		"machines b":                      {"checks targets", "1970-01-01 00:00:00"},
		"failing 192.0.2.1:53":            {"DNS server", "does not respond", "in 4.0 s", "critical"},
		"failing http://a.example":        {"origin or gateway", "refuses connections", "on demand", "warning"},
		"failing http://r.example": {
			"resolution server (THTTP)", "dial tcp: <refused>", "on demand",
			"warning",
		},
		"failing 1 target of the registry": {"dead in checks", "see urnd registry health", "on demand", "warning"},
		"known http://a.example":           {"origin of a site", "refuses connections", "warning"},
		"known http://b.example":           {"origin of a site", "no known failure", "ok"},
		"known 192.0.2.1:53":               {"DNS server", "does not respond", "critical"},
		"known 192.0.2.3:53":               {"DNS server", "1 of 1 requests failed", "warning"},
		"known 192.0.2.9:427":              {"directory agent (SLP)", "no known failure", "ok"},
		"stores registry":                  {"sqlite:a.db", "available", "1.0 MiB", "–", "1.0 TiB"},
		"stores responses on disk": {
			"/b", "in use; errors: 1, damaged files: 2", "–", "1.0 GiB", "1.0 MiB",
			"critical",
		},
		"stores access log": {"/c", "in use", "0 B", "–", "512.0 MiB", "warning"},
		"stores shared level of caches": {
			"redis://c", "available; no other urnd shares answers", "–", "–", "–",
			"critical",
		},
		"errors 23:59:59, just now":  {"error", "broken", "a=b", "1", "critical"},
		"errors 22:59:00, 1 h ago":   {"warning", "odd", "c=d", "3, and 4,000 with other details", "warning"},
		"errors 1969-12-30 00:00:00": {"warning", "long ago", "", "1", "warning"},
		"errors 23:58:00, 2 min ago": {"warning", "lately", "", "1", "warning"},
	})
	s.Certificates = func() []*x509.Certificate { return []*x509.Certificate{{NotAfter: time.Unix(-1, 0)}} }
	compare(t, rows(s), map[string][]string{
		"certificate expires": {"expired at 1969-12-31 23:59:59", "critical"}, "certificate names": {"–"},
	})
	for _, table := range s.State(english()).Tables {
		if table.ID == "systems" && plain(table.Rows[0].Cells)[0] != "DNS server 192.0.2.1:53" ||
			(table.ID == "failing" || table.ID == "known") && plain(table.Rows[0].Cells)[0] != "192.0.2.1:53" &&
				plain(table.Rows[0].Cells)[0] != "http://a.example" {
			t.Errorf("the worst is not the first: %q", table.Rows)
		}
		for _, row := range table.Rows {
			if len(row.Cells) != len(table.Columns) {
				t.Errorf("%s: %d cells for %d columns", table.ID, len(row.Cells), len(table.Columns))
			}
		}
	}
}

// Whatever the input of servers and clients, the page is limited to 30 KB, and says what it omits.
func TestLongest(t *testing.T) {
	m := metrics.New("1")
	for i := range 1000 {
		m.Query(fmt.Sprintf("[2001:db8:1234:5678:9abc:def0:1234:%x]:65535", i), "NAPTR", "NOERROR", time.Hour)
	}
	for _, form := range strings.Fields("path n2l forward connect fetch batch document page purge api query handle " +
		"ark other") {
		m.Request(form, "I2L", 500, time.Hour)
	}
	s := sources(m)
	long := strings.Repeat("<", 240)
	s.Health = func() (unready, degraded []string) {
		return nil, slices.Repeat([]string{strings.Repeat("words ", 100)}, 100)
	}
	s.Failing = func() []status.Failing {
		return slices.Repeat([]status.Failing{{
			Server: status.Server{Name: long, Role: status.RoleOrigin},
			Detail: long,
		}}, 100)
	}
	s.Errors = func() []status.Record {
		return slices.Repeat([]status.Record{{Message: long, Attributes: long + long, Count: 1 << 60}}, 50)
	}
	s.Warnings = func() []string { return slices.Repeat([]string{long}, 100) }
	s.Servers = func() []status.Server {
		return slices.Repeat([]status.Server{{Name: long, Role: status.RoleSite}}, 100)
	}
	s.Stores = func() []status.Store {
		return slices.Repeat([]status.Store{{
			Kind: status.StoreDisk, Location: "/" + long,
			Content: status.ContentAnswers, Severity: status.Critical,
		}}, 6)
	}
	const most = 30_000
	all, design := pagesOf(status.Config{State: s.State}), pages.New(pages.Site{})
	for _, l := range pages.Languages() {
		body := served(t, all, design.In(l), "/status")
		if n := len(body); n > most || n < most/2 || !strings.Contains(body, `class="critical"`) {
			t.Errorf("%s: %d bytes: %s", l.Tag(), n, body)
		}
		if l == pages.English && !strings.Contains(body, " more.</p>") {
			t.Errorf("it does not say what it leaves out: %s", body)
		}
	}
}

func BenchmarkState(b *testing.B) {
	m := metrics.New("1")
	for i := range 20 {
		m.Query(fmt.Sprintf("192.0.2.%d:53", i), "NAPTR", "NOERROR", time.Millisecond)
	}
	for _, form := range strings.Fields("path n2l forward connect fetch batch document page purge") {
		m.Request(form, "I2L", 200, time.Millisecond)
	}
	s := sources(m)
	for b.Loop() {
		show(b, "/status", status.Config{State: s.State})
	}
}
