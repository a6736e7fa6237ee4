// Package metrics counts what urnd does, for Prometheus. It knows words and numbers
// alone: cmd/urnd tells it what the rooms of the house tell cmd/urnd.
package metrics

import (
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the counts of one daemon, in a registry of their own. They are safe for
// concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	queries  *prometheus.CounterVec
	asked    *prometheus.HistogramVec
	steps    prometheus.Counter
	passed   *prometheus.CounterVec
	gateways *prometheus.CounterVec
	spent    *prometheus.HistogramVec
	refused  prometheus.Counter
	lost     prometheus.Counter
	unused   prometheus.Counter

	reloads              *prometheus.CounterVec
	reloaded, reloadGood prometheus.Gauge

	mu    sync.RWMutex
	kinds map[kind]kindCounts
}

// maxCode bounds the statuses that are told apart.
const maxCode = 599

// fast are the bounds of what takes from microseconds to seconds.
func fast() []float64 {
	return []float64{.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// slow are the bounds of what goes over a network.
func slow() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// New returns Metrics that have counted nothing.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), kinds: make(map[kind]kindCounts)}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "urnd", Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "urnd", Name: name, Help: help, Buckets: buckets}, labels)
		m.registry.MustRegister(h)
		return h
	}
	m.requests = counter("requests_total", "Requests by the form of the question, the service that was asked for, and the status of the response; 0 is a client that left.", "form", "service", "code")
	m.latency = histogram("request_duration_seconds", "Time from the header of a request to the end of its response.", fast(), "form")
	m.queries = counter("dns_queries_total", "Questions to DNS servers by server, type of records, and response code, timeout or error.", "server", "type", "rcode")
	m.asked = histogram("dns_query_duration_seconds", "Time of questions to DNS servers, to the answer or its absence.", slow(), "server")
	m.steps = counter("ddds_steps_total", "Domains whose NAPTR records were looked at.").WithLabelValues()
	m.passed = counter("ddds_records_discarded_total", "NAPTR records that were passed over, by reason.", "reason")
	m.gateways = counter("gateway_exchanges_total", "Exchanges with resolution servers (thttp), directory agents (slp) and origins (fetch), by outcome.", "gateway", "outcome")
	m.spent = histogram("gateway_exchange_duration_seconds", "Time of exchanges with resolution servers, directory agents and origins; of origins, to their header.", slow(), "gateway")
	m.refused = counter("connections_refused_total", "Connections that were closed because their client has too many (limits.client_connections).").WithLabelValues()
	m.unused = counter("connections_unused_total", "Connections that ended without a request: their client took longer than limits.header_timeout, left, or spoke no HTTP.").WithLabelValues()
	m.lost = counter("access_log_lost_total", "Lines of the access log that could not be written.").WithLabelValues()
	m.reloads = counter("config_reloads_total", "Readings of the configuration after the first, by outcome: done or refused.", "outcome")
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "urnd", Name: name, Help: help})
		m.registry.MustRegister(g)
		return g
	}
	m.reloaded = gauge("config_last_reload_success_timestamp_seconds", "When the configuration in force was read.")
	m.reloadGood = gauge("config_last_reload_successful", "Whether the last reading of the configuration succeeded.")
	m.reloadGood.Set(1)
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: "urnd", Name: "build_info", Help: "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	m.registry.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves them to Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// kind is a kind of requests, and kindCounts what counts them: to look both up by their
// labels takes as long as to answer.
type (
	kind struct {
		form, service string
		code          int
	}
	kindCounts struct {
		requests prometheus.Counter
		latency  prometheus.Observer
	}
)

// Request counts one request of a client.
func (m *Metrics) Request(form, service string, code int, took time.Duration) {
	k := kind{form, service, min(max(code, 0), maxCode)}
	m.mu.RLock()
	counts, ok := m.kinds[k]
	m.mu.RUnlock()
	if !ok {
		counts = kindCounts{m.requests.WithLabelValues(form, service, strconv.Itoa(k.code)), m.latency.WithLabelValues(form)}
		m.mu.Lock()
		m.kinds[k] = counts // there are no more of them than of forms, services and statuses
		m.mu.Unlock()
	}
	counts.requests.Inc()
	counts.latency.Observe(took.Seconds())
}

// Query counts one question to a DNS server.
func (m *Metrics) Query(server, rrtype, rcode string, took time.Duration) {
	m.queries.WithLabelValues(server, rrtype, rcode).Inc()
	m.asked.WithLabelValues(server).Observe(took.Seconds())
}

// Step counts one domain of DDDS.
func (m *Metrics) Step() { m.steps.Inc() }

// Discard counts one record of DDDS that was passed over.
func (m *Metrics) Discard(reason string) { m.passed.WithLabelValues(reason).Inc() }

// Exchange counts one exchange through a gateway.
func (m *Metrics) Exchange(gateway, outcome string, took time.Duration) {
	m.gateways.WithLabelValues(gateway, outcome).Inc()
	m.spent.WithLabelValues(gateway).Observe(took.Seconds())
}

// Loaded notes when the configuration in force was read.
func (m *Metrics) Loaded(when time.Time) { m.reloaded.Set(float64(when.Unix())) }

// Reload counts one reading of the configuration.
func (m *Metrics) Reload(good bool, when time.Time) {
	outcome := "refused"
	if good {
		outcome = "done"
		m.Loaded(when)
	}
	m.reloads.WithLabelValues(outcome).Inc()
	m.reloadGood.Set(map[bool]float64{true: 1}[good])
}

// UnusedConnection counts a connection that ended without a request.
func (m *Metrics) UnusedConnection() { m.unused.Inc() }

// LostLine counts a line of the access log that could not be written.
func (m *Metrics) LostLine() { m.lost.Inc() }

// RefusedConnection counts a connection of a client that has too many.
func (m *Metrics) RefusedConnection() { m.refused.Inc() }
