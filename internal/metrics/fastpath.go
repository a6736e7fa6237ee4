package metrics

import "github.com/prometheus/client_golang/prometheus"

// Fast is what FastPath takes for a request that the fast path has answered.
const Fast = "fast"

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

// FastPath counts one request that the fast path has answered, where reason is Fast, or why it was
// left to the full path, in one word. The caller has few words.
func (m *Metrics) FastPath(reason string) { m.FastPaths(1, reason) }

// FastPaths counts n requests as FastPath does.
func (m *Metrics) FastPaths(n uint64, reason string) { m.fastPath.add(labels{first: reason}, n, 0) }

// Describe implements prometheus.Collector.
func (f *fastPath) Describe(out chan<- *prometheus.Desc) { out <- f.count }

// Collect implements prometheus.Collector.
func (f *fastPath) Collect(out chan<- prometheus.Metric) {
	for l, t := range f.totals() {
		path, reason := "full", l.first
		if reason == Fast {
			path, reason = Fast, ""
		}
		out <- prometheus.MustNewConstMetric(f.count, prometheus.CounterValue, float64(t.count()), path, reason)
	}
}
