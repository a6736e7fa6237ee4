package metrics

import "github.com/prometheus/client_golang/prometheus"

// Registry exports at every scrape whether the registry can be asked, and changed; ok is false where there is none.
func (m *Metrics) Registry(available, writable func() (is, ok bool)) {
	m.registry.MustRegister(&registry{available, prometheus.NewDesc(
		"urnd_registry_available", "Whether the registry of the site can be asked: 1 or 0.", nil, nil)})
	m.registry.MustRegister(&registry{writable, prometheus.NewDesc(
		"urnd_registry_writable", "Whether the registry of the site accepts changes, as far as it is known: 1 or 0.", nil, nil)})
}

type registry struct {
	get       func() (available, ok bool)
	available *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (r *registry) Describe(out chan<- *prometheus.Desc) { out <- r.available }

// Collect implements prometheus.Collector.
func (r *registry) Collect(out chan<- prometheus.Metric) {
	available, ok := r.get()
	if !ok {
		return
	}
	out <- prometheus.MustNewConstMetric(r.available, prometheus.GaugeValue, number(available))
}

// number is 1 for true, and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
