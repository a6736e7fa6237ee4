package metrics

import "github.com/prometheus/client_golang/prometheus"

// fastPath are the requests that the fast path has seen.
type fastPath struct {
	*shards // by reason
	count   *prometheus.Desc
}

func newFastPath() *fastPath {
	return &fastPath{newShards(), prometheus.NewDesc("urnd_fast_path_requests_total",
		"Requests by the path on which they were answered: fast (from a cache, before the HTTP server saw them) or full; and for those on the full path the first reason: see docs/operations.md.",
		[]string{"path", "reason"}, nil)}
}

// FastPath counts n requests that the fast path has seen. The reason why they were left to the full path
// is one of few constant words; it is "" where the fast path has answered.
func (m *Metrics) FastPath(n uint64, reason string) { m.fastPath.add(labels{first: reason}, n, 0) }

// Describe implements prometheus.Collector.
func (f *fastPath) Describe(out chan<- *prometheus.Desc) { out <- f.count }

// Collect implements prometheus.Collector.
func (f *fastPath) Collect(out chan<- prometheus.Metric) {
	for l, t := range f.totals() {
		path := "full"
		if l.first == "" {
			path = "fast"
		}
		out <- prometheus.MustNewConstMetric(f.count, prometheus.CounterValue, float64(t.count()), path, l.first)
	}
}
