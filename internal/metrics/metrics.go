// Package metrics counts the events of urnd and exports the counters, gauges and histograms in the exposition
// format of Prometheus. Events enter by the methods of Metrics, which are called by the observers of other
// packages, and values that are read rather than counted by a State at each scrape; Handler serves them. The
// package imports no other package of urnd.
package metrics

import (
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the metrics of one daemon, in their own registry. They are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	requests           *requests
	queries            *prometheus.CounterVec
	queryDuration      *prometheus.HistogramVec
	steps              prometheus.Counter
	discarded          *prometheus.CounterVec
	exchanges          *prometheus.CounterVec
	exchangeDuration   *prometheus.HistogramVec
	refusedConnections prometheus.Counter
	panics             prometheus.Counter
	lostLines          *prometheus.CounterVec
	unusedConnections  prometheus.Counter
	targetChecks       *prometheus.CounterVec
	registryConflicts  prometheus.Counter
	webhookCalls       *prometheus.CounterVec
	webhookLost        prometheus.Counter
	compressed         *prometheus.CounterVec

	reloads                 *prometheus.CounterVec
	certificateOrders       *prometheus.CounterVec
	lastReload, lastSuccess prometheus.Gauge

	mu    sync.RWMutex
	kinds map[kind]measures
}

// fast returns histogram buckets for durations from microseconds to seconds.
func fast() []float64 {
	return []float64{
		.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1,
		2.5, 5, 10,
	}
}

// slow returns histogram buckets for durations of network exchanges.
func slow() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
}

// New returns Metrics with all counters at zero. version is a label of build_info.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), kinds: make(map[kind]measures), requests: newRequests()}
	m.registry.MustRegister(m.requests)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "urnd", Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "urnd", Name: name, Help: help,
			Buckets: buckets,
		}, labels)
		m.registry.MustRegister(h)
		return h
	}
	m.queries = counter("dns_queries_total",
		"Queries to DNS servers, by server, record type, and response code, timeout or error.", "server",
		"type", "rcode")
	m.queryDuration = histogram("dns_query_duration_seconds",
		"Time from a query to a DNS server to its response or failure, in "+
			"seconds.", slow(), "server")
	m.steps = counter("ddds_steps_total", "Domains whose NAPTR records were evaluated.").WithLabelValues()
	m.discarded = counter("ddds_records_discarded_total", "NAPTR records that were skipped, by reason.", "reason")
	m.exchanges = counter("gateway_exchanges_total",
		"Requests to resolution servers (thttp), directory agents (slp) and origins "+
			"(fetch), by outcome.", "gateway", "outcome")
	m.exchangeDuration = histogram("gateway_exchange_duration_seconds",
		"Duration of requests to resolution servers, directory agents "+
			"and origins, in seconds; for origins, until the response header.", slow(), "gateway")
	m.refusedConnections = counter("connections_refused_total",
		"Connections closed because their client had too many.").WithLabelValues()
	m.unusedConnections = counter("connections_unused_total",
		"Connections that ended without a request: the client timed out, "+
			"disconnected, or did not send HTTP.").WithLabelValues()
	m.panics = counter("panics_total", "Recovered panics, which are bugs of urnd.").WithLabelValues()
	m.lostLines = counter("access_log_dropped_lines_total",
		"Lines of access logs that could not be written, by the file or syslog server of "+
			"the log.", "log")
	m.registryConflicts = counter("registry_conflicts_total",
		"Changes of the registry by the API that were refused, because the name "+
			"had been changed concurrently.").WithLabelValues()
	m.webhookCalls = counter("webhook_calls_total",
		"Requests to purge webhooks, by outcome: success or failure.", "outcome")
	m.webhookLost = counter("webhook_dropped_tags_total",
		"Tags that were not sent to purge webhooks before urnd stopped.").WithLabelValues()
	m.compressed = counter("compressed_bytes_total",
		"Bytes of compressed responses, by content coding: in is before, and out after "+
			"compression.", "coding", "direction")
	for _, coding := range []string{"zstd", "br", "gzip"} {
		m.Compressed(coding, 0, 0)
	}
	m.targetChecks = counter("registry_target_checks_total",
		"Checks of targets of the registry, by outcome: alive, guarded (a login "+
			"is required), gone, failing, later (the server asked to retry later), forbidden (the address is not "+
			"allowed), unchecked (neither http nor https).", "outcome")
	m.certificateOrders = counter("certificate_orders_total",
		"Certificates ordered from the ACME authority, by outcome: success or "+
			"failure.", "outcome")
	m.reloads = counter("config_reloads_total", "Reloads of the configuration, by outcome: success or failure.",
		"outcome")
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "urnd", Name: name, Help: help})
		m.registry.MustRegister(g)
		return g
	}
	m.lastReload = gauge("config_last_reload_success_timestamp_seconds",
		"Time of the last successful load of the configuration, in "+
			"seconds since 1970.")
	m.lastSuccess = gauge("config_last_reload_successful",
		"Whether the last reload of the configuration succeeded: 1 or 0.")
	m.lastSuccess.Set(1)
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: "urnd", Name: "build_info", Help: "Always 1; the labels are the versions of urnd and of Go.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	m.registry.MustRegister(info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the metrics to Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// kind is a combination of label values of one family. measures are its cached counter and histogram, so that
// they are not looked up by labels for each event.
type (
	kind struct {
		family        *prometheus.CounterVec
		first, second string
		third         string
	}
	measures struct {
		count    prometheus.Counter
		duration prometheus.Observer
	}
)

// measure counts one event. find creates the counter and histogram of a kind on its first event. The number of
// kinds is bounded by the combinations of their labels.
func (m *Metrics) measure(k kind, took time.Duration, find func(kind) measures) {
	m.mu.RLock()
	found, ok := m.kinds[k]
	m.mu.RUnlock()
	if !ok {
		found = find(k)
		m.mu.Lock()
		m.kinds[k] = found
		m.mu.Unlock()
	}
	found.count.Inc()
	found.duration.Observe(took.Seconds())
}

// Query counts one query to a DNS server.
func (m *Metrics) Query(server, rrtype, rcode string, took time.Duration) {
	m.measure(kind{family: m.queries, first: server, second: rrtype, third: rcode}, took, func(k kind) measures {
		return measures{m.queries.WithLabelValues(k.first, k.second, k.third), m.queryDuration.WithLabelValues(k.first)}
	})
}

// Exchange counts one exchange through a gateway.
func (m *Metrics) Exchange(gateway, outcome string, took time.Duration) {
	m.measure(kind{family: m.exchanges, first: gateway, second: outcome}, took, func(k kind) measures {
		return measures{m.exchanges.WithLabelValues(k.first, k.second), m.exchangeDuration.WithLabelValues(k.first)}
	})
}

// Step counts one domain whose NAPTR records were evaluated.
func (m *Metrics) Step() { m.steps.Inc() }

// Discard counts one NAPTR record that was skipped.
func (m *Metrics) Discard(reason string) { m.discarded.WithLabelValues(reason).Inc() }

// Loaded records the time at which the current configuration was read.
func (m *Metrics) Loaded(when time.Time) { m.lastReload.Set(float64(when.Unix())) }

// CertificateOrdered counts an ACME certificate order; err is its error, or nil.
func (m *Metrics) CertificateOrdered(err error) {
	m.certificateOrders.WithLabelValues(outcomeOf(err == nil)).Inc()
}

// Reload counts one reload of the configuration.
func (m *Metrics) Reload(good bool, when time.Time) {
	if good {
		m.Loaded(when)
	}
	m.reloads.WithLabelValues(outcomeOf(good)).Inc()
	m.lastSuccess.Set(map[bool]float64{true: 1}[good])
}

// UnusedConnection counts a connection that ended without a request.
func (m *Metrics) UnusedConnection() { m.unusedConnections.Inc() }

// Panic counts a recovered panic.
func (m *Metrics) Panic() { m.panics.Inc() }

// LostLines returns a function that counts a line of an access log that could not be written. The counter is
// exported as 0 from then on.
func (m *Metrics) LostLines(log string) func() { return m.lostLines.WithLabelValues(log).Inc }

// RefusedConnection counts a connection that was closed because its client had too many.
func (m *Metrics) RefusedConnection() { m.refusedConnections.Inc() }

// TargetCheck counts one check of a target by this instance.
func (m *Metrics) TargetCheck(outcome string) { m.targetChecks.WithLabelValues(outcome).Inc() }

// RegistryConflict counts a change through the API that was rejected because it would have overwritten a
// concurrent change.
func (m *Metrics) RegistryConflict() { m.registryConflicts.Inc() }

// WebhookCall counts a purge notification to a downstream cache.
func (m *Metrics) WebhookCall(err error) {
	m.webhookCalls.WithLabelValues(outcomeOf(err == nil)).Inc()
}

// outcomeOf returns the label value of a success or failure.
func outcomeOf(good bool) string {
	if good {
		return "success"
	}
	return "failure"
}

// Compressed counts content compressed by a content coding, in bytes before and after.
func (m *Metrics) Compressed(coding string, in, out int) {
	m.compressed.WithLabelValues(coding, "in").Add(float64(in))
	m.compressed.WithLabelValues(coding, "out").Add(float64(out))
}

// WebhookLost counts tags that were not sent to downstream caches.
func (m *Metrics) WebhookLost(tags int) { m.webhookLost.Add(float64(tags)) }
