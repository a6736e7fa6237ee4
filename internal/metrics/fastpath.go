package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// fastPath are the requests that the fast path has seen.
type fastPath struct {
	*shards  // those that it has left to the full path, by reason
	answered *requests
	count    *prometheus.Desc
}

func newFastPath(answered *requests) *fastPath {
	return &fastPath{newShards(), answered, prometheus.NewDesc("urnd_fast_path_requests_total",
		"Requests by the path on which they were answered: fast (from a cache, before the HTTP server saw them) or full; and for "+
			"those on the full path the first reason: see docs/operations.md.",
		[]string{"path", "reason"}, nil)}
}

// FastRequest is Request for one that the fast path has answered.
func (m *Metrics) FastRequest(form, service string, code int, took time.Duration) {
	m.requests.add(labels{form, service, min(max(code, 0), maxCode), true}, took)
}

// Passed counts a request that the fast path has seen and left to the full path, for a reason of few constant words.
func (m *Metrics) Passed(reason string) { m.fastPath.add(labels{first: reason}, 0) }

// Describe implements prometheus.Collector.
func (f *fastPath) Describe(out chan<- *prometheus.Desc) { out <- f.count }

// Collect implements prometheus.Collector.
func (f *fastPath) Collect(out chan<- prometheus.Metric) {
	for l, t := range f.totals() {
		out <- prometheus.MustNewConstMetric(f.count, prometheus.CounterValue, float64(t.count()), "full", l.first)
	}
	var answered uint64
	for l, t := range f.answered.totals() {
		if l.isFast {
			answered += t.count()
		}
	}
	out <- prometheus.MustNewConstMetric(f.count, prometheus.CounterValue, float64(answered), "fast", "")
}
