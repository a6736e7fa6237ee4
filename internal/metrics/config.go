package metrics

import "github.com/prometheus/client_golang/prometheus"

// Config exports at every scrape a hash of the configuration in force, by which instances that differ are found.
func (m *Metrics) Config(hash func() string) {
	m.registry.MustRegister(&config{hash, prometheus.NewDesc("urnd_config_info", "Always 1; the label is a hash of the configuration in "+
		"force, without secrets, addresses and directories.", []string{"hash"}, nil)})
}

type config struct {
	hash func() string
	info *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *config) Describe(out chan<- *prometheus.Desc) { out <- c.info }

// Collect implements prometheus.Collector.
func (c *config) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.MustNewConstMetric(c.info, prometheus.GaugeValue, 1, c.hash())
}
