package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/urnd/urnd/internal/metrics"
)

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// samples returns the lines of urnd's own metrics without the prefix "urnd_".
func samples(text string) map[string]string {
	found := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "urnd_"); ok {
			i := strings.LastIndexByte(name, ' ')
			found[name[:i]] = name[i+1:]
		}
	}
	return found
}

// busy returns Metrics with an event of each kind.
func busy() *metrics.Metrics {
	m := metrics.New("1.2.3")
	m.Request("path", "I2L", 302, 30*time.Microsecond)
	m.Query("127.0.0.1:53", "NAPTR", "NOERROR", time.Millisecond)
	m.Step()
	m.Discard("flags")
	m.Exchange("thttp", "found", 20*time.Second)
	m.Reload(true, time.Unix(1000, 0))
	m.RefusedConnection()
	m.TargetCheck("gone")
	m.State(func() metrics.State {
		return metrics.State{
			Targets: &metrics.Targets{
				States: map[string]int64{"unhealthy": 3}, Lag: time.Minute,
				Moved: time.Unix(3000, 0),
			},
			Limits: []metrics.Limit{{Name: "connections", Used: 7, Max: 8}},
			Caches: []metrics.Cache{
				{Name: "answers", Lookups: map[string]uint64{"hit": 1, "miss": 2}, Evictions: 3, Entries: 4, Bytes: 5},
				{Name: "records", Lookups: map[string]uint64{"hit": 6}},
			},
		}
	})
	return m
}

// TestLint checks the conventions of Prometheus for names, units and help texts.
func TestLint(t *testing.T) {
	for name, m := range map[string]*metrics.Metrics{"new": metrics.New("1.2.3"), "busy": busy()} {
		text := scrape(t, m)
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s: %s", name, p.Metric, p.Text)
		}
		for line := range strings.Lines(text) {
			word, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE "), "_")
			if word != "urnd" && word != "go" && word != "process" {
				t.Errorf("%s: not a metric of urnd, Go or the process: %s", name, line)
			}
		}
	}
}

func TestCounts(t *testing.T) {
	m := busy()
	for range 2 {
		m.Request("thttp", "I2Ls", 200, time.Second)
	}
	for _, code := range []int{0, -1, 599, 600, 1 << 40} {
		m.Request("forward", "I2L", code, 0)
	}
	m.Query("127.0.0.1:53", "SRV", "timeout", 3*time.Second)
	m.Step()
	m.Exchange("thttp", "timeout", time.Millisecond)
	m.Reload(false, time.Unix(2000, 0))
	got := samples(scrape(t, m))
	for name, want := range map[string]string{
		`requests_total{code="302",form="path",service="I2L"}`:                  "1",
		`requests_total{code="200",form="thttp",service="I2Ls"}`:                "2",
		`requests_total{code="0",form="forward",service="I2L"}`:                 "2",
		`requests_total{code="599",form="forward",service="I2L"}`:               "3",
		`registry_target_checks_total{outcome="gone"}`:                          "1",
		`registry_targets{state="unhealthy"}`:                                   "3",
		`registry_sweep_lag_seconds`:                                            "60",
		`registry_sweep_progress_timestamp_seconds`:                             "3000",
		`request_duration_seconds_count{form="path"}`:                           "1",
		`request_duration_seconds_bucket{form="path",le="2.5e-05"}`:             "0",
		`request_duration_seconds_bucket{form="path",le="5e-05"}`:               "1",
		`request_duration_seconds_sum{form="thttp"}`:                            "2",
		`dns_queries_total{rcode="NOERROR",server="127.0.0.1:53",type="NAPTR"}`: "1",
		`dns_queries_total{rcode="timeout",server="127.0.0.1:53",type="SRV"}`:   "1",
		`dns_query_duration_seconds_count{server="127.0.0.1:53"}`:               "2",
		`ddds_steps_total`: "2",
		`ddds_records_discarded_total{reason="flags"}`:                               "1",
		`gateway_exchanges_total{gateway="thttp",outcome="found"}`:                   "1",
		`gateway_exchanges_total{gateway="thttp",outcome="timeout"}`:                 "1",
		`gateway_exchange_duration_seconds_bucket{gateway="thttp",le="10"}`:          "1",
		`gateway_exchange_duration_seconds_bucket{gateway="thttp",le="+Inf"}`:        "2",
		`connections_refused_total`:                                                  "1",
		`limit_used{limit="connections"}`:                                            "7",
		`limit_max{limit="connections"}`:                                             "8",
		`config_reloads_total{outcome="success"}`:                                    "1",
		`config_reloads_total{outcome="failure"}`:                                    "1",
		`config_last_reload_successful`:                                              "0",
		`config_last_reload_success_timestamp_seconds`:                               "1000",
		`cache_lookups_total{cache="answers",outcome="hit"}`:                         "1",
		`cache_lookups_total{cache="answers",outcome="miss"}`:                        "2",
		`cache_lookups_total{cache="records",outcome="hit"}`:                         "6",
		`cache_evictions_total{cache="answers"}`:                                     "3",
		`cache_entries{cache="answers"}`:                                             "4",
		`cache_bytes{cache="answers"}`:                                               "5",
		fmt.Sprintf(`build_info{goversion="%s",version="1.2.3"}`, runtime.Version()): "1",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %s", name, got[name], want)
		}
	}
}

// TestNoCounts checks that counters without labels are exported before the first event.
func TestNoCounts(t *testing.T) {
	got := samples(scrape(t, metrics.New("1")))
	for name, want := range map[string]string{
		"ddds_steps_total": "0", "connections_refused_total": "0", "config_last_reload_successful": "1",
		`config_reloads_total{outcome="success"}`: "",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// TestInstances checks that two daemons in one process count separately.
func TestInstances(t *testing.T) {
	a, b := metrics.New("1"), metrics.New("1")
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 100 {
				a.Request("path", "I2L", 302, 0)
				a.Query("s", "NAPTR", "NOERROR", 0)
				a.Exchange("fetch", "found", 0)
				a.Reload(true, time.Unix(1, 0))
				_ = scrape(t, a)
			}
		})
	}
	running.Wait()
	const name = `requests_total{code="302",form="path",service="I2L"}`
	if got := samples(scrape(t, a))[name]; got != "400" {
		t.Errorf("%s is %s", name, got)
	}
	if got, ok := samples(scrape(t, b))[name]; ok {
		t.Errorf("the other instance has counted %s", got)
	}
}

// TestCachesAreRead checks that each scrape reads the statistics of the caches.
func TestCachesAreRead(t *testing.T) {
	m := metrics.New("1")
	n := uint64(0)
	m.State(func() metrics.State {
		n++
		return metrics.State{Caches: []metrics.Cache{{Name: "answers", Lookups: map[string]uint64{"hit": n}}}}
	})
	for _, want := range []string{"1", "2", "3"} {
		if got := samples(scrape(t, m))[`cache_lookups_total{cache="answers",outcome="hit"}`]; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
