package metrics

import "github.com/prometheus/client_golang/prometheus"

// Limit is how much of something may go on at a time, and how much does.
type Limit struct {
	Name      string // of its setting: "requests"
	Used, Max int
}

// Limits makes those known that list returns; it is called by every scrape.
func (m *Metrics) Limits(list func() []Limit) {
	m.registry.MustRegister(&limits{
		list: list,
		used: prometheus.NewDesc("urnd_limit_used", "What goes on now, by the setting below limits that bounds it.", []string{"limit"}, nil),
		most: prometheus.NewDesc("urnd_limit_max", "What may go on at a time, by the setting below limits.", []string{"limit"}, nil),
	})
}

type limits struct {
	list       func() []Limit
	used, most *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (l *limits) Describe(out chan<- *prometheus.Desc) {
	out <- l.used
	out <- l.most
}

// Collect implements prometheus.Collector.
func (l *limits) Collect(out chan<- prometheus.Metric) {
	for _, limit := range l.list() {
		out <- prometheus.MustNewConstMetric(l.used, prometheus.GaugeValue, float64(limit.Used), limit.Name)
		out <- prometheus.MustNewConstMetric(l.most, prometheus.GaugeValue, float64(limit.Max), limit.Name)
	}
}
