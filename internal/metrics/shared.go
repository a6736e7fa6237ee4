package metrics

import "github.com/prometheus/client_golang/prometheus"

// Shared exports at every scrape whether the second level of the caches is used, and of each cache whether this instance is the
// only one that shares it; ok is false where there is no second level.
func (m *Metrics) Shared(get func() (used bool, alone map[string]bool, ok bool)) {
	m.registry.MustRegister(&registry{func() (used, ok bool) {
		used, _, ok = get()
		return used, ok
	}, prometheus.NewDesc(
		"urnd_shared_cache_used", "Whether the shared level of caches is asked: 1, or 0 after a failure, until it answers again.", nil, nil)})
	m.registry.MustRegister(&aloneCaches{get, prometheus.NewDesc(
		"urnd_shared_cache_alone", "Whether no other instance has shared this cache within the last minute: 1 or 0.", []string{"cache"}, nil)})
}

type aloneCaches struct {
	get  func() (used bool, alone map[string]bool, ok bool)
	desc *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (a *aloneCaches) Describe(out chan<- *prometheus.Desc) { out <- a.desc }

// Collect implements prometheus.Collector.
func (a *aloneCaches) Collect(out chan<- prometheus.Metric) {
	_, alone, _ := a.get()
	for cache, is := range alone {
		out <- prometheus.MustNewConstMetric(a.desc, prometheus.GaugeValue, number(is), cache)
	}
}
