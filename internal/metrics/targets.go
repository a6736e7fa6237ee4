package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Targets is what checks have found of the targets of the registry, by all instances on its store.
type Targets struct {
	States map[string]int64 // by state: "unhealthy" ...
	Lag    time.Duration    // how late the sweep over all names is
	Moved  time.Time        // when it passed a name last; zero if it has not
}

// TargetCheck counts one check of a target by this instance.
func (m *Metrics) TargetCheck(outcome string) { m.targetChecks.WithLabelValues(outcome).Inc() }

// Targets exports what get returns at every scrape; ok is false where targets are not checked.
func (m *Metrics) Targets(get func() (found Targets, ok bool)) {
	m.registry.MustRegister(&targets{
		get: get,
		states: prometheus.NewDesc("urnd_registry_targets", "Targets of the registry by state: suspect (some failures), unhealthy, "+
			"inaccessible (urnd may not ask their address), healthy (again; those that always were are not counted).", []string{"state"}, nil),
		lag: prometheus.NewDesc("urnd_registry_sweep_lag_seconds", "How late the checks of the targets of the registry are, "+
			"in seconds.", nil, nil),
		moved: prometheus.NewDesc("urnd_registry_sweep_progress_timestamp_seconds", "When the checks of the targets of the "+
			"registry went on last, in seconds since 1970.", nil, nil),
	})
}

type targets struct {
	get                func() (Targets, bool)
	states, lag, moved *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (t *targets) Describe(out chan<- *prometheus.Desc) {
	out <- t.states
	out <- t.lag
	out <- t.moved
}

// Collect implements prometheus.Collector.
func (t *targets) Collect(out chan<- prometheus.Metric) {
	found, ok := t.get()
	if !ok {
		return
	}
	for state, n := range found.States {
		out <- prometheus.MustNewConstMetric(t.states, prometheus.GaugeValue, float64(n), state)
	}
	out <- prometheus.MustNewConstMetric(t.lag, prometheus.GaugeValue, found.Lag.Seconds())
	if !found.Moved.IsZero() {
		out <- prometheus.MustNewConstMetric(t.moved, prometheus.GaugeValue, float64(found.Moved.Unix()))
	}
}
