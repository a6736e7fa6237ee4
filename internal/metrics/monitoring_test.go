package metrics_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/metrics"
)

// exported returns the metrics of a daemon with an event of each kind.
func exported() string {
	m := metrics.New("test")
	m.Request("path", "I2L", 200, time.Second)
	m.Query("192.0.2.1:53", "NAPTR", "NOERROR", time.Second)
	m.Discard("order")
	m.Exchange("thttp", "found", time.Second)
	m.Reload(true, time.Unix(1, 0))
	m.CertificateOrdered(nil)
	m.TargetCheck("alive")
	m.RegistryConflict()
	m.LostLines("stderr")()
	pending := 1
	m.State(func() metrics.State {
		return metrics.State{
			Ready: true, Config: "0123456789abcdef",
			Certificates: map[string]time.Time{"urn.example.org": time.Unix(1, 0)},
			Caches:       []metrics.Cache{{Name: "answers", Lookups: map[string]uint64{"hit": 1}}},
			Limits:       []metrics.Limit{{Name: "requests", Used: 1, Max: 2}},
			Registry:     &metrics.Registry{Available: true, Writable: true},
			RegistryState: &metrics.RegistryState{
				Names: map[string]int64{"active": 1}, Jobs: map[string]int64{"failed": 1}, Versions: 3, Behind: 1,
				HasFile: true, Size: 4096, Free: 1, Backup: time.Unix(1, 0), Verified: time.Unix(1, 0),
			},
			Targets:        &metrics.Targets{States: map[string]int64{"unhealthy": 1}, Moved: time.Unix(1, 0)},
			Shared:         &metrics.Shared{Used: true, Standalone: map[string]bool{"answers": false}},
			WebhookPending: &pending,
		}
	})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// TestMonitoringKnowsTheMetrics checks that the alert rules and the dashboard only use exported metrics.
func TestMonitoringKnowsTheMetrics(t *testing.T) {
	text := exported()
	used := 0
	for _, path := range []string{"../../docs/monitoring/alerts.yaml", "../../docs/monitoring/dashboard.json"} {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\b(urnd|process|go)_[a-z_]+[a-z]`).FindAllString(string(file), -1) {
			used++
			if !strings.Contains(text, "\n# TYPE "+strings.TrimSuffix(name, "_bucket")+" ") {
				t.Errorf("%s uses %s, which urnd does not export", path, name)
			}
		}
	}
	if used < 30 {
		t.Errorf("only %d metrics are used", used)
	}
}

func TestDashboard(t *testing.T) {
	file, err := os.ReadFile("../../docs/monitoring/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(file, &dashboard); err != nil || dashboard.Title != "urnd" || len(dashboard.Panels) < 10 {
		t.Errorf("%v, %d panels", err, len(dashboard.Panels))
	}
	ids, places := make(map[int]string), make(map[struct{ X, Y int }]string)
	queries := make(map[string]string)
	for _, p := range dashboard.Panels {
		if p.Title == "" || len(p.Targets) == 0 || p.Targets[0].Expr == "" {
			t.Errorf("panel %q has no query", p.Title)
			continue
		}
		if ids[p.ID] != "" || places[p.GridPos] != "" {
			t.Errorf("panel %q is at the place of %q%q", p.Title, ids[p.ID], places[p.GridPos])
		}
		ids[p.ID], places[p.GridPos], queries[p.Title] = p.Title, p.Title, p.Targets[0].Expr
	}
	for title, parts := range map[string][]string{
		"Answers from caches, share": {
			"urnd_cache_lookups_total{", `outcome=~"hit|negative|stale"`,
			") / sum by (cache) (",
		},
		"Time to answer, 95th percentile": {"histogram_quantile(0.95, ", "urnd_request_duration_seconds_bucket{"},
	} {
		for _, part := range parts {
			if !strings.Contains(queries[title], part) {
				t.Errorf("panel %q has no %s: %q", title, part, queries[title])
			}
		}
	}
}

func TestAlertRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		return // TestMonitoringKnowsTheMetrics checks the names
	}
	if out, err := exec.Command(promtool, "check", "rules",
		"../../docs/monitoring/alerts.yaml").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = strings.NewReader(exported())
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}
