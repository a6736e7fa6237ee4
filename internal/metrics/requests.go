package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// maxCode is the greatest status that is counted separately.
const maxCode = 599

// requests counts the requests of clients.
type requests struct {
	*shards        // by form, service and status
	count, elapsed *prometheus.Desc
}

func newRequests() *requests {
	return &requests{
		newShards(),
		prometheus.NewDesc("urnd_requests_total",
			"Requests, by form of the request, requested service and status of the response; 0 "+
				"means that the client disconnected or the server stopped before.",
			[]string{"form", "service", "code"}, nil),
		prometheus.NewDesc("urnd_request_duration_seconds",
			"Time from the request header to the end of the response, in seconds.", []string{"form"}, nil),
	}
}

// Request counts one request of a client. form and service must be from a small set of constants.
func (m *Metrics) Request(form, service string, code int, took time.Duration) {
	m.requests.add(labels{form, service, min(max(code, 0), maxCode)}, took)
}

// Describe implements prometheus.Collector.
func (r *requests) Describe(out chan<- *prometheus.Desc) {
	out <- r.count
	out <- r.elapsed
}

// Collect implements prometheus.Collector.
func (r *requests) Collect(out chan<- prometheus.Metric) {
	forms, all := make(map[string]*total), make(map[labels]*total)
	for l, t := range r.totals() {
		if all[l] == nil {
			all[l] = new(total)
		}
		all[l].add(t)
	}
	for l, t := range all {
		out <- prometheus.MustNewConstMetric(r.count, prometheus.CounterValue, float64(t.count()), l.first, l.second,
			strconv.Itoa(l.code))
		if forms[l.first] == nil {
			forms[l.first] = new(total)
		}
		forms[l.first].add(t)
	}
	for form, t := range forms {
		buckets, below := make(map[float64]uint64), uint64(0)
		for i, bound := range fast() {
			below += t.counts[i]
			buckets[bound] = below
		}
		out <- prometheus.MustNewConstHistogram(r.elapsed, t.count(), t.sum/float64(time.Second), buckets, form)
	}
}
