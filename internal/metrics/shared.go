package metrics

import "github.com/prometheus/client_golang/prometheus"

// Shared exports at every scrape whether the second level of the caches is used; ok is false where there is none.
func (m *Metrics) Shared(get func() (used, ok bool)) {
	m.registry.MustRegister(&registry{get, prometheus.NewDesc(
		"urnd_shared_cache_used", "Whether the shared level of caches is asked: 1, or 0 after a failure, until it answers again.", nil, nil)})
}
