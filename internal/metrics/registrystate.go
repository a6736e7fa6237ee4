package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// RegistryState is what the store of the registry has, by all that write to it.
type RegistryState struct {
	Names    map[string]int64 // by status
	Versions int64            // that were ever made
	Behind   int64            // versions that this instance has not heard of yet
	Jobs     map[string]int64 // imports of the last day by state
	// Size is that of its file, and Free the room that is left for it, in octets; of a database server both are not known.
	Size, Free int64
	HasFile    bool
	// Backup and Verified are when these were done last; zero if never.
	Backup, Verified time.Time
}

// RegistryConflict counts a change by the API that would have lost what somebody else has done, and was refused.
func (m *Metrics) RegistryConflict() { m.registryConflicts.Inc() }

// RegistryState exports what get returns at every scrape; ok is false where the registry cannot be asked.
func (m *Metrics) RegistryState(get func() (RegistryState, bool)) {
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("urnd_registry_"+name, help, labels, nil)
	}
	m.registry.MustRegister(&registryState{
		get:      get,
		names:    gauge("names", "Names of the registry by status.", "status"),
		versions: gauge("versions_total", "Versions of names and prefixes that were ever made in the registry, by all that write to it."),
		behind:   gauge("behind_versions", "Versions of the registry that this instance has not heard of yet."),
		jobs:     gauge("jobs", "Imports by the API that were accepted in the last day, by state.", "state"),
		size:     gauge("size_bytes", "Size of the file of the registry, in octets."),
		free:     gauge("free_bytes", "Room that the file system of the registry has left, in octets."),
		backup:   gauge("backup_timestamp_seconds", "When urnd registry backup has made a backup last, in seconds since 1970."),
		verified: gauge("verify_timestamp_seconds", "When urnd registry verify has found no fault last, in seconds since 1970."),
	})
}

type registryState struct {
	get func() (RegistryState, bool)

	names, versions, behind, jobs, size, free, backup, verified *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (r *registryState) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{r.names, r.versions, r.behind, r.jobs, r.size, r.free, r.backup, r.verified} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (r *registryState) Collect(out chan<- prometheus.Metric) {
	s, ok := r.get()
	if !ok {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for status, n := range s.Names {
		gauge(r.names, float64(n), status)
	}
	for state, n := range s.Jobs {
		gauge(r.jobs, float64(n), state)
	}
	out <- prometheus.MustNewConstMetric(r.versions, prometheus.CounterValue, float64(s.Versions))
	gauge(r.behind, float64(s.Behind))
	if s.HasFile {
		gauge(r.size, float64(s.Size))
		gauge(r.free, float64(s.Free))
	}
	if !s.Backup.IsZero() {
		gauge(r.backup, float64(s.Backup.Unix()))
	}
	if !s.Verified.IsZero() {
		gauge(r.verified, float64(s.Verified.Unix()))
	}
}
