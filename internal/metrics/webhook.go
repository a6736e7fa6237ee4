package metrics

import "github.com/prometheus/client_golang/prometheus"

// webhookMetrics are what caches in front of urnd are told.
type webhookMetrics struct {
	calls *prometheus.CounterVec
	lost  prometheus.Counter
}

func newWebhookMetrics(r prometheus.Registerer) webhookMetrics {
	m := webhookMetrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "urnd_webhook_calls_total", Help: "Calls that tell caches in front of urnd what to purge, by outcome: success or failure.",
		}, []string{"outcome"}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "urnd_webhook_lost_tags_total", Help: "Tags that caches in front of urnd were not told, as urnd ended before.",
		}),
	}
	r.MustRegister(m.calls, m.lost)
	return m
}

// WebhookCall counts a call that tells a cache in front of urnd what to purge.
func (m *Metrics) WebhookCall(err error) {
	outcome := "success"
	if err != nil {
		outcome = "failure"
	}
	m.webhook.calls.WithLabelValues(outcome).Inc()
}

// WebhookLost counts tags that such a cache was not told.
func (m *Metrics) WebhookLost(tags int) { m.webhook.lost.Add(float64(tags)) }

// WebhookPending exports at every scrape how many tags are to be sent; ok is false where there are no webhooks.
func (m *Metrics) WebhookPending(get func() (tags int, ok bool)) {
	m.registry.MustRegister(&webhookPending{get, prometheus.NewDesc(
		"urnd_webhook_pending_tags", "Tags that caches in front of urnd are still to be told.", nil, nil)})
}

type webhookPending struct {
	get  func() (int, bool)
	desc *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (p *webhookPending) Describe(out chan<- *prometheus.Desc) { out <- p.desc }

// Collect implements prometheus.Collector.
func (p *webhookPending) Collect(out chan<- prometheus.Metric) {
	if tags, ok := p.get(); ok {
		out <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, float64(tags))
	}
}
