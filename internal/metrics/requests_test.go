package metrics_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/urnd/urnd/internal/metrics"
)

// ordinary implements the request metrics with the counters and histograms of the Prometheus library.
type ordinary struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newOrdinary() *ordinary {
	o := &ordinary{
		prometheus.NewRegistry(),
		prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "urnd", Name: "requests_total",
			Help: "Requests, by form of the request, requested service and status of the response; 0 means that the " +
				"client disconnected or the server stopped before.",
		}, []string{
			"form",
			"service", "code",
		}),
		prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "urnd", Name: "request_duration_seconds",
			Help: "Time from the request header to the end of the response, in seconds.",
			Buckets: []float64{
				.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1,
				.25, .5, 1, 2.5, 5, 10,
			},
		}, []string{"form"}),
	}
	o.registry.MustRegister(o.requests, o.duration)
	return o
}

func (o *ordinary) request(form, service string, code int, took time.Duration) {
	o.requests.WithLabelValues(form, service, strconv.Itoa(min(max(code, 0), 599))).Inc()
	o.duration.WithLabelValues(form).Observe(took.Seconds())
}

// requestLines returns the lines of the request metrics. Sums are rounded, because those of the library depend
// on the order of requests.
func requestLines(t *testing.T, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	var found strings.Builder
	for line := range strings.Lines(w.Body.String()) {
		if !strings.Contains(line, "urnd_request") {
			continue
		}
		if name, sum, ok := strings.Cut(line, "} "); ok && strings.Contains(name, "_seconds_sum{") {
			value, err := strconv.ParseFloat(strings.TrimSpace(sum), 64)
			if err != nil {
				t.Fatal(err)
			}
			line = name + "} " + strconv.FormatFloat(value, 'g', 12, 64) + "\n"
		}
		found.WriteString(line)
	}
	return found.String()
}

// TestRequestsMatchLibrary compares a scrape with the counters and histograms of the library.
func TestRequestsMatchLibrary(t *testing.T) {
	m, o := metrics.New("1"), newOrdinary()
	count := func(form, service string, code int, took time.Duration) {
		m.Request(form, service, code, took)
		o.request(form, service, code, took)
	}
	if got := requestLines(t, m.Handler()); got != "" {
		t.Errorf("before any request:\n%s", got)
	}
	for _, bound := range []int64{
		0, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
		2_500_000, 5_000_000, 10_000_000,
	} {
		for _, beside := range []int64{-1, 0, 1} {
			count("path", "I2L", 302, time.Duration(bound*1000+beside))
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"", "a", "path", "forward", "home", "none", "I2L", "I2Ls", "I2N", `"\`}
	for range 5000 {
		took := time.Duration(random.ExpFloat64() * float64(time.Duration(1)<<random.IntN(36)))
		count(words[random.IntN(len(words))], words[random.IntN(len(words))], random.IntN(700)-50, took)
	}
	for range 3 {
		m.Request("path", "I2L", 200, time.Second)
	}
	for range 3 {
		o.request("path", "I2L", 200, time.Second)
	}
	got, want := requestLines(t, m.Handler()), requestLines(t, promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{}))
	if got != want {
		gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(gotLines), len(wantLines)) {
			if gotLines[i] != wantLines[i] {
				t.Fatalf("got %s\nwant %s", gotLines[i], wantLines[i])
			}
		}
		t.Errorf("%d lines, want %d", len(gotLines), len(wantLines))
	}
}

// TestConcurrentRequests checks that concurrent requests with new and known labels are all counted.
func TestConcurrentRequests(t *testing.T) {
	const each, goroutines, codes = 2000, 8, 100
	m := metrics.New("1")
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			for i := range each {
				m.Request("path", "I2L", 200+i%codes, time.Microsecond)
			}
		})
	}
	running.Wait()
	got := samples(scrape(t, m))
	for i := range codes {
		name := `requests_total{code="` + strconv.Itoa(200+i) + `",form="path",service="I2L"}`
		if want := strconv.Itoa(goroutines * each / codes); got[name] != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
	for name, want := range map[string]string{
		`request_duration_seconds_count{form="path"}`: "16000",
		`request_duration_seconds_sum{form="path"}`:   "0.016",
	} {
		if got[name] != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
}

func TestCountAllocations(t *testing.T) {
	m := metrics.New("1")
	if n := testing.AllocsPerRun(1000, func() {
		m.Request("path", "I2L", 302, 8*time.Microsecond)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRequest(b *testing.B) {
	m := metrics.New("1")
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			m.Request("path", "I2L", 302, 8*time.Microsecond)
		}
	})
}
