package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// State contains the values that are read at each scrape instead of being counted. nil and zero values are not
// exported, except for Ready.
type State struct {
	Ready          bool
	Config         string               // hash of the current configuration, to detect instances that differ
	Certificates   map[string]time.Time // expiry times by certificate name
	Caches         []Cache
	Limits         []Limit
	Registry       *Registry      // nil if the site has no registry
	RegistryState  *RegistryState // nil if the registry is unavailable
	Targets        *Targets       // nil if targets are not checked
	Shared         *Shared        // nil without a second-level cache
	WebhookPending *int           // tags to be sent; nil without webhooks
	SiteServers    []Server
	Upstreams      []Server // upstream proxies
	Lists          []List
	Helpers        []Helper
}

// Helper is an external program that identifies users.
type Helper struct {
	Name               string // purpose of its queries
	Processes, Waiting int    // running processes; queries waiting for a process
	Questions          uint64
	Failures           uint64 // queries without an answer
	Restarts           uint64 // processes that ended
}

// List is a list of a rule, read from a file.
type List struct {
	Path             string
	Entries, Skipped int
	Loaded           time.Time // time of the last read
}

// Server is a server of a site for which urnd is the gateway, or an upstream proxy.
type Server struct {
	Name               string // scheme and authority
	Up                 bool   // receives requests according to probes and settings
	Outstanding        int64  // current requests, for servers of sites
	Requests, Failures int64
}

// Cache contains the statistics of a cache.
type Cache struct {
	Name           string
	Lookups        map[string]uint64 // by outcome: "hit", "miss" ...
	Evictions      uint64
	Entries, Bytes int64
}

// Limit is a concurrency limit and its current usage.
type Limit struct {
	Name      string // name of its setting: "requests"
	Used, Max int
}

// Registry reports whether the registry can be queried and changed.
type Registry struct{ Available, Writable bool }

// RegistryState describes the store of the registry, including changes by all instances.
type RegistryState struct {
	Names    map[string]int64 // by status
	Versions int64            // versions ever created
	Behind   int64            // versions that this instance has not read yet
	Jobs     map[string]int64 // imports of the last day by state
	// Size is the size of its file, and Free the free space of the file system, in bytes. Both are unknown for
	// a database server.
	Size, Free int64
	HasFile    bool
	// Backup and Verified are the times of the last backup and verification; zero if never.
	Backup, Verified time.Time
}

// Targets contains the results of target checks by all instances on the store of the registry.
type Targets struct {
	States map[string]int64 // by state: "unhealthy" ...
	Lag    time.Duration    // delay of the sweep over all names
	Moved  time.Time        // time at which it last passed a name; zero if never
}

// Shared reports whether the second-level cache is in use, and for each cache whether this instance is the only
// one that shares it.
type Shared struct {
	Used       bool
	Standalone map[string]bool
}

// family is a metric of State.
type family struct {
	*prometheus.Desc
	kind prometheus.ValueType
}

// families returns all metrics of State by name.
func families() map[string]family {
	all := make(map[string]family)
	row := func(kind prometheus.ValueType, name, help string, labels []string) {
		all[name] = family{prometheus.NewDesc("urnd_"+name, help, labels, nil), kind}
	}
	gauge := func(name, help string, labels ...string) { row(prometheus.GaugeValue, name, help, labels) }
	counter := func(name, help string, labels ...string) { row(prometheus.CounterValue, name, help, labels) }
	gauge("ready", "Whether urnd is ready, as in /readyz: 1 or 0.")
	gauge("config_info",
		"Always 1; the label is a hash of the current configuration, without secrets, addresses and directories.",
		"hash")
	gauge("certificate_expiry_timestamp_seconds",
		"Expiry of a certificate, by its first name, in seconds since 1970.", "name")
	counter("cache_lookups_total",
		"Lookups by cache and outcome: hit, negative (a cached failure or absence), stale, miss, collapsed "+
			"(waited for the same lookup), failure.", "cache", "outcome")
	counter("cache_evictions_total", "Entries evicted to make room for others.", "cache")
	gauge("cache_entries", "Entries in the cache.", "cache")
	gauge("cache_bytes", "Memory of the entries in the cache, in bytes.", "cache")
	gauge("limit_used", "Current use of a limit, by its setting below limits.", "limit")
	gauge("limit_max", "Maximum of limit_used, by its setting below limits.", "limit")
	gauge("registry_available", "Whether the registry is available: 1 or 0.")
	gauge("registry_writable", "Whether the registry accepts changes, as far as known: 1 or 0.")
	gauge("registry_names", "Names of the registry by status.", "status")
	counter("registry_versions_total", "Versions of names and prefixes written to the registry, by all writers.")
	gauge("registry_replication_lag_versions", "Versions of the registry that this instance has not received yet.")
	gauge("registry_jobs", "Imports accepted by the API in the last day, by state.", "state")
	gauge("registry_size_bytes", "Size of the database file of the registry, in bytes.")
	gauge("registry_free_bytes", "Free space of the file system of the registry, in bytes.")
	gauge("registry_backup_timestamp_seconds",
		"Time of the last backup by urnd registry backup, in seconds since 1970.")
	gauge("registry_verify_timestamp_seconds",
		"Time of the last successful urnd registry verify, in seconds since 1970.")
	gauge("registry_targets",
		"Targets of the registry by state: suspect (some failures), unhealthy, inaccessible (the address is not "+
			"allowed), healthy (recovered; those that never failed are not counted).", "state")
	gauge("registry_sweep_lag_seconds", "Delay of the checks of registry targets behind their schedule, in seconds.")
	gauge("registry_sweep_progress_timestamp_seconds",
		"Time of the last progress of the checks of registry targets, in seconds since "+
			"1970.")
	gauge("shared_cache_used",
		"Whether the shared cache is in use: 1, or 0 after a failure, until its server responds again.")
	gauge("shared_cache_alone",
		"Whether no other instance has used the shared cache within the last minute: 1 or 0.", "cache")
	gauge("site_server_up",
		"Whether a server of a site receives requests, according to settings and health checks: 1 or 0.", "server")
	gauge("site_server_outstanding_requests", "Active requests of a server of a site.", "server")
	counter("site_server_requests_total", "Requests sent to a server of a site, including retries.", "server")
	counter("site_server_failures_total", "Requests to a server of a site that failed without a response.", "server")
	gauge("helper_processes", "Running processes of a helper.", "helper")
	gauge("helper_waiting_questions", "Requests waiting for a process of a helper.", "helper")
	counter("helper_questions_total", "Requests sent to a helper, not served from its cache.", "helper")
	counter("helper_failures_total", "Requests to a helper that failed.", "helper")
	counter("helper_restarts_total", "Terminated processes of a helper.", "helper")
	gauge("list_entries", "Entries of a list of a rule.", "file")
	gauge("list_skipped_lines", "Invalid lines of a list of a rule.", "file")
	gauge("list_loaded_timestamp_seconds", "Time of the last load of a list of a rule, in seconds since 1970.", "file")
	gauge("upstream_up", "Whether health checks can connect to an upstream proxy: 1 or 0.", "proxy")
	counter("upstream_requests_total", "Requests assigned to an upstream proxy.", "proxy")
	counter("upstream_failures_total", "Requests for which the connection to an upstream proxy failed.", "proxy")
	gauge("webhook_pending_tags", "Tags waiting to be sent to purge webhooks.")
	return all
}

// add adds a sample to the family with this name.
type add func(family string, value float64, labels ...string)

// time adds a time unless it is zero.
func (a add) time(family string, t time.Time, labels ...string) {
	if !t.IsZero() {
		a(family, float64(t.Unix()), labels...)
	}
}

// samples calls add for each sample.
func (s *State) samples(add add) {
	add("ready", number(s.Ready))
	if s.Config != "" {
		add("config_info", 1, s.Config)
	}
	for name, expires := range s.Certificates {
		add("certificate_expiry_timestamp_seconds", float64(expires.Unix()), name)
	}
	for _, c := range s.Caches {
		for outcome, n := range c.Lookups {
			add("cache_lookups_total", float64(n), c.Name, outcome)
		}
		add("cache_evictions_total", float64(c.Evictions), c.Name)
		add("cache_entries", float64(c.Entries), c.Name)
		add("cache_bytes", float64(c.Bytes), c.Name)
	}
	for _, l := range s.Limits {
		add("limit_used", float64(l.Used), l.Name)
		add("limit_max", float64(l.Max), l.Name)
	}
	if r := s.Registry; r != nil {
		add("registry_available", number(r.Available))
		add("registry_writable", number(r.Writable))
	}
	if s.RegistryState != nil {
		s.RegistryState.samples(add)
	}
	if t := s.Targets; t != nil {
		for state, n := range t.States {
			add("registry_targets", float64(n), state)
		}
		add("registry_sweep_lag_seconds", t.Lag.Seconds())
		add.time("registry_sweep_progress_timestamp_seconds", t.Moved)
	}
	if s.Shared != nil {
		add("shared_cache_used", number(s.Shared.Used))
		for cache, alone := range s.Shared.Standalone {
			add("shared_cache_alone", number(alone), cache)
		}
	}
	s.serverSamples(add)
	if s.WebhookPending != nil {
		add("webhook_pending_tags", float64(*s.WebhookPending))
	}
}

// serverSamples calls add for servers of sites, helpers, lists of rules and upstream proxies.
func (s *State) serverSamples(add add) {
	for _, server := range s.SiteServers {
		add("site_server_up", number(server.Up), server.Name)
		add("site_server_outstanding_requests", float64(server.Outstanding), server.Name)
		add("site_server_requests_total", float64(server.Requests), server.Name)
		add("site_server_failures_total", float64(server.Failures), server.Name)
	}
	for _, helper := range s.Helpers {
		add("helper_processes", float64(helper.Processes), helper.Name)
		add("helper_waiting_questions", float64(helper.Waiting), helper.Name)
		add("helper_questions_total", float64(helper.Questions), helper.Name)
		add("helper_failures_total", float64(helper.Failures), helper.Name)
		add("helper_restarts_total", float64(helper.Restarts), helper.Name)
	}
	for _, list := range s.Lists {
		add("list_entries", float64(list.Entries), list.Path)
		add("list_skipped_lines", float64(list.Skipped), list.Path)
		add.time("list_loaded_timestamp_seconds", list.Loaded, list.Path)
	}
	for _, proxy := range s.Upstreams {
		add("upstream_up", number(proxy.Up), proxy.Name)
		add("upstream_requests_total", float64(proxy.Requests), proxy.Name)
		add("upstream_failures_total", float64(proxy.Failures), proxy.Name)
	}
}

func (r *RegistryState) samples(add add) {
	for status, n := range r.Names {
		add("registry_names", float64(n), status)
	}
	for state, n := range r.Jobs {
		add("registry_jobs", float64(n), state)
	}
	add("registry_versions_total", float64(r.Versions))
	add("registry_replication_lag_versions", float64(r.Behind))
	if r.HasFile {
		add("registry_size_bytes", float64(r.Size))
		add("registry_free_bytes", float64(r.Free))
	}
	add.time("registry_backup_timestamp_seconds", r.Backup)
	add.time("registry_verify_timestamp_seconds", r.Verified)
}

// number returns 1 for true and 0 for false.
func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// State exports the values returned by get, which each scrape calls once.
func (m *Metrics) State(get func() State) { m.registry.MustRegister(scraped{get, families()}) }

// scraped is a prometheus.Collector of State.
type scraped struct {
	get      func() State
	families map[string]family
}

// Describe implements prometheus.Collector.
func (s scraped) Describe(out chan<- *prometheus.Desc) {
	for _, f := range s.families {
		out <- f.Desc
	}
}

// Collect implements prometheus.Collector.
func (s scraped) Collect(out chan<- prometheus.Metric) {
	state := s.get()
	state.samples(func(name string, value float64, labels ...string) {
		f := s.families[name]
		out <- prometheus.MustNewConstMetric(f.Desc, f.kind, value, labels...)
	})
}
