package metrics

import "github.com/prometheus/client_golang/prometheus"

// Ready exports at every scrape whether urnd is ready.
func (m *Metrics) Ready(get func() bool) {
	m.registry.MustRegister(&registry{func() (ready, ok bool) { return get(), true }, prometheus.NewDesc(
		"urnd_ready", "Whether what the configuration promises can be answered, as /readyz says: 1 or 0.", nil, nil)})
}
