package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Certificate exports at every scrape when the certificate of urnd expires; ok is false where there is none.
func (m *Metrics) Certificate(get func() (expires time.Time, ok bool)) {
	m.registry.MustRegister(&certificate{get, prometheus.NewDesc(
		"urnd_certificate_expiry_timestamp_seconds", "When the certificate of urnd expires, in seconds since 1970.", nil, nil)})
}

type certificate struct {
	get     func() (expires time.Time, ok bool)
	expires *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *certificate) Describe(out chan<- *prometheus.Desc) { out <- c.expires }

// Collect implements prometheus.Collector.
func (c *certificate) Collect(out chan<- prometheus.Metric) {
	if expires, ok := c.get(); ok {
		out <- prometheus.MustNewConstMetric(c.expires, prometheus.GaugeValue, float64(expires.Unix()))
	}
}
