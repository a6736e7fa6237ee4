package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/pages"
)

// A night in which much is wrong, and one in which nothing is.
func states() (bad, good pages.State) {
	row := func(severity pages.Severity, cells ...string) pages.Row {
		return pages.Row{Severity: severity, Cells: cells}
	}
	var line strings.Builder
	for i := range pages.CourseWidth {
		fmt.Fprintf(&line, "%d,%d ", i+1, 1+(i*i/7+i*5)%22)
	}
	points := strings.TrimSpace(line.String())
	bad = pages.State{
		Version: "1.2.3 (0123456789ab)", Severity: pages.Warning, Verdict: "urnd is ready, but something is wrong",
		Reasons: []string{"no DNS server has answered since 2031-05-01T03:00:00Z", "the registry cannot be asked: connection refused"},
		Figures: []pages.Figure{
			{ID: "rate", Name: "Requests in the last minute", Text: "1,234/s", Note: "at most 3,210/s in 15 minutes", Line: points},
			{ID: "hits", Name: "Answered from the caches", Text: "98.7 %", Note: "of 74,040 lookups", Line: points},
			{ID: "latency", Name: "95 % answered within", Text: "1.2 s", Note: "at most 4.7 s in 15 minutes", Line: points},
			{ID: "failures", Name: "Answered by an error (5xx)", Text: "12.3 %", Note: "9,104 in 15 minutes", Severity: pages.Critical, Line: points},
		},
		Tables: []pages.Table{
			{ID: "failing", Heading: "Failing now", Columns: []string{"server", "is", "reason", "asked again"}, Rows: []pages.Row{
				row(pages.Critical, "192.0.2.53:53", "DNS server", "it does not answer", "in 4 s"),
				row(pages.Warning, "http://resolver.example", "resolution server (THTTP)", "dial tcp 192.0.2.7:80: connect: connection refused", "in 2 s"),
			}},
			{ID: "faults", Heading: "Recent faults", Columns: []string{"last (UTC)", "level", "what", "details", "times"}, Rows: []pages.Row{
				row(pages.Critical, "03:04:05, just now", "error", "the registry cannot be asked: its names that are not cached are answered 503", "error=dial tcp 192.0.2.9:5432: connect: connection refused", "3"),
				row(pages.Warning, "02:59:00, 5 min ago", "warning", "the certificate of urnd expires at 2031-05-04T00:00:00Z, in 3 days", "expires=2031-05-04 subject=CN=urn.example", "1, and 12 with other details"),
			}},
			{ID: "requests", Heading: "Requests since the start", Columns: []string{"form", "all", "2xx", "3xx", "4xx", "5xx", "disconnected", "median", "95 % within"}, Rows: []pages.Row{
				row("", "path", "12,345,678", "1,234", "12,300,000", "44,000", "444", "0", "38 µs", "49 µs"), row("", "forward", "5", "5", "0", "0", "0", "0", "38 ms", "49 ms"),
			}},
			{ID: "caches", Heading: "Caches", Columns: []string{"cache", "lookups", "answered from it", "entries", "memory", "evicted"}, Rows: []pages.Row{
				row("", "answers", "1,234,567", "98.7 %", "4,000", "1.5 MiB", "0"), row("", "records of many servers", "1", "0.0 %", "4", "2 B", "12,345"),
			}},
			{ID: "stores", Heading: "Stores", Columns: []string{"store", "place", "state", "size", "at most", "free there"}, Rows: []pages.Row{
				row(pages.Critical, "registry", "sqlite:/var/lib/urnd/registry.db", "it does not answer, or takes no changes", "1.2 GiB", "–", "12.0 MiB"),
			}},
		},
	}
	good = bad
	good.Severity, good.Verdict, good.Reasons = pages.OK, "urnd is ready, and nothing is known to be wrong", nil
	good.Tables = []pages.Table{{ID: "failing", Heading: "Failing now", Columns: []string{"server", "is", "reason", "asked again"}, Rows: []pages.Row{row("", "nothing that is known")}}}
	return bad, good
}

// settings are those of a configuration, in two sections.
func settings() []pages.Section {
	dns := pages.Section{Name: "dns", Doc: "How DNS servers are asked.", Settings: []pages.Setting{
		{Path: "dns.timeout", Doc: "the time for an answer", Value: "5s", Origin: "file /etc/urnd/urnd.yaml:12", Default: "2s", IsSet: true},
		{Path: "dns.servers", Doc: "the servers to ask", Value: "[]", Origin: "default"},
	}}
	access := pages.Section{Name: "access", Doc: "Who may do what.", Settings: []pages.Setting{
		{Path: "access.admin_token", Doc: "a file with the token <of> administrators", Value: "credential:admin", Origin: "environment URND_ACCESS_ADMIN_TOKEN, credential admin", Default: `""`, IsSet: true},
		{Path: "access.cors", Doc: "sites", Value: `["` + strings.Repeat("https://a.example/<&>", 50), Origin: "default", IsSet: false},
	}}
	access.Settings[1] = access.Settings[1].Cut()
	return []pages.Section{dns, access}
}

// panel is what is around a page of the admin interface, for somebody who has logged in.
func panel(title, path string) *pages.Panel {
	return &pages.Panel{
		Title: title, Path: path, Script: "/status.js",
		Nav:     []pages.Item{{Word: "State", Path: "/status"}, {Word: "Faults", Path: "/faults"}, {Word: "Configuration", Path: "/config"}, {Word: "Caches", Path: "/caches"}, {Word: "Names", Path: "/registry/names"}},
		Account: &pages.Account{Name: "admin", Logout: "/logout", Field: pages.Field{Name: "csrf", Value: "x"}},
	}
}

// operatorPages are those of the admin interface for operators.
func operatorPages(d *pages.Design) map[string]pages.Page {
	bad, good := states()
	more := [][2]string{{"/api/v1/cache", "what the caches hold, as JSON"}, {"/metrics", "all figures, for Prometheus"}}
	return map[string]pages.Page{
		"operators-bad":    d.Status(panel("State", "/status"), bad, more),
		"operators-good":   d.Status(panel("State", "/status"), good, more),
		"operators-faults": d.Tables(panel("Faults", "/faults"), "The last warnings.", bad.Tables[1:2]),
		"operators-config": d.Settings(panel("Configuration", "/config"), settings(), pages.SettingsQuery{}),
		"operators-found":  d.Settings(panel("Configuration", "/config"), settings(), pages.SettingsQuery{Text: "<of> ADMIN"}),
		"operators-none":   d.Settings(panel("Configuration", "/config"), settings(), pages.SettingsQuery{Text: `"><script>`}),
		"operators-access": d.Settings(panel("Configuration", "/config"), settings(), pages.SettingsQuery{Section: "access"}),
	}
}

func TestOperatorPages(t *testing.T) {
	for name, p := range operatorPages(pages.New(library(t)).Apart()) {
		checkFrame(t, name, pages.English, p)
		if hasScript := strings.Contains(string(p.Body), "<script"); hasScript != strings.Contains(p.Policy, "script-src 'self'; connect-src 'self'") {
			t.Errorf("%s: %s", name, p.Policy)
		}
	}
}

// What is not the default is shown first; else what is looked for.
func TestSettings(t *testing.T) {
	shown := func(q pages.SettingsQuery) (paths string, body string) {
		p := pages.New(pages.Site{}).Settings(panel("Configuration", "/config"), settings(), q)
		var all []string
		for _, part := range strings.Split(string(p.Body), "<dt")[1:] {
			_, path, _ := strings.Cut(part, "<code>")
			path, _, _ = strings.Cut(path, "</code>")
			all = append(all, path)
		}
		return strings.Join(all, " "), string(p.Body)
	}
	for _, tt := range []struct {
		query    pages.SettingsQuery
		want, in string
	}{
		{pages.SettingsQuery{}, "dns.timeout access.admin_token", "2 set here"},
		{pages.SettingsQuery{Section: "dns"}, "dns.timeout dns.servers", "How DNS servers are asked."},
		{pages.SettingsQuery{Section: "none"}, "", "Section none"},
		{pages.SettingsQuery{Text: "SERVERS ask"}, "dns.servers", "1 found"},
		{pages.SettingsQuery{Text: "urnd.yaml:12"}, "dns.timeout", "file /etc/urnd/urnd.yaml:12; the default is <code>2s</code>"},
		{pages.SettingsQuery{Text: `"><script>`}, "", `value="&#34;&gt;&lt;script&gt;"`},
		{pages.SettingsQuery{Text: strings.Repeat("ä", 1000)}, "", "0 found"},
	} {
		if got, body := shown(tt.query); got != tt.want || !strings.Contains(body, tt.in) {
			_, body, _ = strings.Cut(body, "<main")
			t.Errorf("%+v: %q, want %q; %s is in %s", tt.query, got, tt.want, tt.in, body)
		}
	}
	many := make([]pages.Section, 30)
	for i := range many {
		many[i] = pages.Section{Name: fmt.Sprint("section", i), Doc: strings.Repeat("&", 300)}
		for range 30 {
			many[i].Settings = append(many[i].Settings, pages.Setting{Path: fmt.Sprintf("section%d.name", i), Value: strings.Repeat("<", 4000), Doc: strings.Repeat("'", 500), IsSet: true}.Cut())
		}
	}
	const most = 30_000
	if p := pages.New(library(t)).Settings(panel("Configuration", "/config"), many, pages.SettingsQuery{Text: strings.Repeat("s", 7)}); len(p.Body) > most {
		t.Errorf("%d octets", len(p.Body))
	}
	if p := pages.New(library(t)).Settings(panel("Configuration", "/config"), many, pages.SettingsQuery{}); len(p.Body) > most || !strings.Contains(string(p.Body), "not shown") {
		t.Errorf("%d octets: %.3000s", len(p.Body), p.Body)
	}
}

func BenchmarkStatus(b *testing.B) {
	d := pages.New(pages.Site{}).Apart()
	bad, _ := states()
	for b.Loop() {
		d.Status(panel("State", "/status"), bad, nil)
	}
}

func BenchmarkSettings(b *testing.B) {
	d := pages.New(pages.Site{}).Apart()
	many := make([]pages.Section, 25)
	for i := range many {
		many[i] = pages.Section{Name: fmt.Sprint("section", i)}
		for range 8 {
			many[i].Settings = append(many[i].Settings, pages.Setting{Path: fmt.Sprintf("section%d.name", i), Value: "[a, b]", Doc: strings.Repeat("words ", 20), Origin: "default", IsSet: i%2 == 0})
		}
	}
	for b.Loop() {
		d.Settings(panel("Configuration", "/config"), many, pages.SettingsQuery{Text: "words"})
	}
}
