package metrics

import "github.com/prometheus/client_golang/prometheus"

// Cache has the statistics of a cache.
type Cache struct {
	Name           string
	Lookups        map[string]uint64 // by outcome: "hit", "miss" ...
	Evictions      uint64
	Entries, Bytes int64
}

// Caches exports the caches that list returns; every scrape calls it.
func (m *Metrics) Caches(list func() []Cache) {
	m.registry.MustRegister(&caches{
		list: list,
		lookups: prometheus.NewDesc("urnd_cache_lookups_total", "Lookups by cache and outcome: hit, negative (a cached failure "+
			"or absence), stale, miss, collapsed (waited for the same lookup), failure.", []string{"cache", "outcome"}, nil),
		evictions: prometheus.NewDesc("urnd_cache_evictions_total", "Entries that were evicted for others.", []string{"cache"}, nil),
		entries:   prometheus.NewDesc("urnd_cache_entries", "Entries in the cache.", []string{"cache"}, nil),
		bytes:     prometheus.NewDesc("urnd_cache_bytes", "Memory of the entries in the cache, in bytes.", []string{"cache"}, nil),
	})
}

type caches struct {
	list                               func() []Cache
	lookups, evictions, entries, bytes *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *caches) Describe(out chan<- *prometheus.Desc) {
	out <- c.lookups
	out <- c.evictions
	out <- c.entries
	out <- c.bytes
}

// Collect implements prometheus.Collector.
func (c *caches) Collect(out chan<- prometheus.Metric) {
	for _, cache := range c.list() {
		for outcome, n := range cache.Lookups {
			out <- prometheus.MustNewConstMetric(c.lookups, prometheus.CounterValue, float64(n), cache.Name, outcome)
		}
		out <- prometheus.MustNewConstMetric(c.evictions, prometheus.CounterValue, float64(cache.Evictions), cache.Name)
		out <- prometheus.MustNewConstMetric(c.entries, prometheus.GaugeValue, float64(cache.Entries), cache.Name)
		out <- prometheus.MustNewConstMetric(c.bytes, prometheus.GaugeValue, float64(cache.Bytes), cache.Name)
	}
}

// Limit is a limit on concurrency, and how much of it is in use.
type Limit struct {
	Name      string // of its setting: "requests"
	Used, Max int
}

// Limits exports the limits that list returns; every scrape calls it.
func (m *Metrics) Limits(list func() []Limit) {
	m.registry.MustRegister(&limits{
		list:    list,
		used:    prometheus.NewDesc("urnd_limit_used", "How much of a limit is in use, by its setting below limits.", []string{"limit"}, nil),
		maximum: prometheus.NewDesc("urnd_limit_max", "The greatest value of limit_used, by its setting below limits.", []string{"limit"}, nil),
	})
}

type limits struct {
	list          func() []Limit
	used, maximum *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (l *limits) Describe(out chan<- *prometheus.Desc) {
	out <- l.used
	out <- l.maximum
}

// Collect implements prometheus.Collector.
func (l *limits) Collect(out chan<- prometheus.Metric) {
	for _, limit := range l.list() {
		out <- prometheus.MustNewConstMetric(l.used, prometheus.GaugeValue, float64(limit.Used), limit.Name)
		out <- prometheus.MustNewConstMetric(l.maximum, prometheus.GaugeValue, float64(limit.Max), limit.Name)
	}
}
