package metrics

import "github.com/prometheus/client_golang/prometheus"

// Limit is a limit on concurrency, and how much of it is in use.
type Limit struct {
	Name      string // of its setting: "requests"
	Used, Max int
}

// Limits exports the limits that list returns; every scrape calls it.
func (m *Metrics) Limits(list func() []Limit) {
	m.registry.MustRegister(&limits{
		list:    list,
		used:    prometheus.NewDesc("urnd_limit_used", "How much of a limit is in use, by its setting below limits.", []string{"limit"}, nil),
		maximum: prometheus.NewDesc("urnd_limit_max", "The greatest value of limit_used, by its setting below limits.", []string{"limit"}, nil),
	})
}

type limits struct {
	list          func() []Limit
	used, maximum *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (l *limits) Describe(out chan<- *prometheus.Desc) {
	out <- l.used
	out <- l.maximum
}

// Collect implements prometheus.Collector.
func (l *limits) Collect(out chan<- prometheus.Metric) {
	for _, limit := range l.list() {
		out <- prometheus.MustNewConstMetric(l.used, prometheus.GaugeValue, float64(limit.Used), limit.Name)
		out <- prometheus.MustNewConstMetric(l.maximum, prometheus.GaugeValue, float64(limit.Max), limit.Name)
	}
}
